// The curve of Ethereum's signatures, and its hash, for WebAssembly: what server/src/ethereum/curve.ts calls. The curve is
// libsecp256k1 of Bitcoin Core, unchanged; this file only names what is exported. scripts/build-curve.mjs compiles both.
//
// Input and output are in fixed places of the memory, so that a call copies nothing but bytes.

#include <stddef.h>
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(#name))) name

// The library allocates once, for its context
static unsigned char heap[4096] __attribute__((aligned(16)));
static size_t heap_used;

void *malloc(size_t size) {
    unsigned char *start = heap + heap_used;
    heap_used += (size + 15) & ~(size_t)15;
    if (heap_used > sizeof heap) __builtin_trap();
    return start;
}

void free(void *start) { (void)start; }
void abort(void) { __builtin_trap(); }
void *memcpy(void *to, const void *from, size_t size) { return __builtin_memcpy(to, from, size); }
void *memmove(void *to, const void *from, size_t size) { return __builtin_memmove(to, from, size); }
void *memset(void *to, int value, size_t size) { return __builtin_memset(to, value, size); }

int memcmp(const void *left, const void *right, size_t size) {
    const unsigned char *a = left, *b = right;
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i]) return a[i] - b[i];
    return 0;
}

size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length]) length++;
    return length;
}

#include "secp256k1.c" // the first: the others expect its settings
#include "precomputed_ecmult.c"
#include "precomputed_ecmult_gen.c"

#define INPUT_BYTES 4096
// Bytes to hash, or the input of a function of the curve
static unsigned char input[INPUT_BYTES] __attribute__((aligned(16)));
static unsigned char output[96] __attribute__((aligned(16)));

unsigned char *EXPORT(input_at)(void) { return input; }
unsigned char *EXPORT(output_at)(void) { return output; }
int EXPORT(input_bytes)(void) { return INPUT_BYTES; }

// Keccak-256: 1600 bits of state, of which 136 bytes take input

#define RATE 136
static uint64_t lanes[25];
static size_t absorbed;

static const uint64_t ROUND_CONSTANTS[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b, 0x0000000080000001,
    0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
    0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003, 0x8000000000008002, 0x8000000000000080,
    0x000000000000800a, 0x800000008000000a, 0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};
static const int ROTATIONS[24] = {1,  3,  6,  10, 15, 21, 28, 36, 45, 55, 2,  14,
                                  27, 41, 56, 8,  25, 43, 62, 18, 39, 61, 20, 44};
static const int PLACES[24] = {10, 7,  11, 17, 18, 3, 5,  16, 8,  21, 24, 4,
                               15, 23, 19, 13, 12, 2, 20, 14, 22, 9,  6,  1};

static inline uint64_t rotate(uint64_t lane, int bits) { return lane << bits | lane >> (64 - bits); }

static void permute(void) {
    uint64_t a[25];
    for (int i = 0; i < 25; i++) a[i] = lanes[i];
    for (int round = 0; round < 24; round++) {
        uint64_t c[5];
#pragma clang loop unroll(full)
        for (int x = 0; x < 5; x++) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
#pragma clang loop unroll(full)
        for (int x = 0; x < 5; x++) {
            uint64_t d = c[(x + 4) % 5] ^ rotate(c[(x + 1) % 5], 1);
#pragma clang loop unroll(full)
            for (int y = 0; y < 25; y += 5) a[x + y] ^= d;
        }
        uint64_t moving = a[1];
#pragma clang loop unroll(full)
        for (int i = 0; i < 24; i++) {
            uint64_t next = a[PLACES[i]];
            a[PLACES[i]] = rotate(moving, ROTATIONS[i]);
            moving = next;
        }
#pragma clang loop unroll(full)
        for (int y = 0; y < 25; y += 5) {
            uint64_t row[5];
#pragma clang loop unroll(full)
            for (int x = 0; x < 5; x++) row[x] = a[y + x];
#pragma clang loop unroll(full)
            for (int x = 0; x < 5; x++) a[y + x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
        }
        a[0] ^= ROUND_CONSTANTS[round];
    }
    for (int i = 0; i < 25; i++) lanes[i] = a[i];
}

// Begins a hash. One that was begun before and not ended is forgotten
void EXPORT(begin)(void) {
    memset(lanes, 0, sizeof lanes);
    absorbed = 0;
}

// Takes bytes of the input from a place on into the hash
void EXPORT(absorb)(int from, int size) {
    unsigned char *state = (unsigned char *)lanes; // WebAssembly is little endian, as Keccak is
    for (int i = 0; i < size; i++) {
        state[absorbed++] ^= input[from + i];
        if (absorbed == RATE) {
            permute();
            absorbed = 0;
        }
    }
}

// Ends the hash: its 32 bytes are the output
void EXPORT(finish)(void) {
    unsigned char *state = (unsigned char *)lanes;
    state[absorbed] ^= 0x01;
    state[RATE - 1] ^= 0x80;
    permute();
    memcpy(output, lanes, 32);
}

// The curve

static secp256k1_context *context;

void EXPORT(start)(void) { context = secp256k1_context_create(SECP256K1_CONTEXT_NONE); }

// Input: 32 bytes of randomness, which hide what signing does from who measures it
int EXPORT(blind)(void) { return secp256k1_context_randomize(context, input); }

// Overwrites what the library left on the stack of a private key: compilers drop its own attempts
__attribute__((noinline)) static void wipe(void) {
    volatile unsigned char stack[8192];
    for (size_t i = 0; i < sizeof stack; i++) stack[i] = 0;
}

static int write_public_key(const secp256k1_pubkey *key) {
    size_t size = 65;
    return secp256k1_ec_pubkey_serialize(context, output, &size, key, SECP256K1_EC_UNCOMPRESSED);
}

// Input: 64 bytes of r and s, 32 of the digest. Output: the public key, 65 bytes. @returns 0 for a signature of no key
int EXPORT(recover)(int recovery_id) {
    if (recovery_id < 0 || recovery_id > 3) return 0; // The library ends the program
    secp256k1_ecdsa_recoverable_signature signature;
    secp256k1_pubkey key;
    return secp256k1_ecdsa_recoverable_signature_parse_compact(context, &signature, input, recovery_id) &&
           secp256k1_ecdsa_recover(context, &key, &signature, input + 64) && write_public_key(&key);
}

// Input: 32 bytes of the digest, 32 of the private key. Output: 64 bytes of r and s. @returns the recovery id, -1 for no key
int EXPORT(sign)(void) {
    secp256k1_ecdsa_recoverable_signature signature;
    int recovery_id = -1;
    int is_key = secp256k1_ecdsa_sign_recoverable(context, &signature, input, input + 32, NULL, NULL);
    memset(input, 0, 64);
    wipe();
    if (is_key) secp256k1_ecdsa_recoverable_signature_serialize_compact(context, output, &recovery_id, &signature);
    return recovery_id;
}

// Input: 32 bytes of the private key. Output: the public key, 65 bytes. @returns 0 for no key
int EXPORT(public_key)(void) {
    secp256k1_pubkey key;
    int is_key = secp256k1_ec_pubkey_create(context, &key, input);
    memset(input, 0, 32);
    wipe();
    return is_key && write_public_key(&key);
}
