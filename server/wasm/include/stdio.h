// Nothing is printed: where the library would, it aborts next
#define fprintf(...) ((void)0)
#define printf(...) ((void)0)
