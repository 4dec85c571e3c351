/** Whether the page is the map at `/embed`, which another website shows in a frame: it has the map and no other parts of the site. */
export const isEmbedded = location.pathname === '/embed'
