/* Tiles of a cluster: work-groups that run at the same time and read and write each other's local memory.

   The tile of the cluster is 2^CLUSTER_LOG2 tiles, one of each group in the order of their ranks. CUDA only. With CLUSTER_LOG2 0
   every group is for itself. */

#if !CLUSTER_LOG2
#define RANK 0u
#else
#define CLUSTER (1 << CLUSTER_LOG2)
#define RANK ((u32)GROUP & (CLUSTER - 1))

FUNCTION Element *tile_of(Element *tile, u32 rank)
{
    Element *there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(tile), "r"(rank));
    return there;
}

/* All work-items of the cluster have arrived here, and see what the others wrote to local and global memory. */
FUNCTION void cluster_barrier(void)
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* For the steps between tiles, register a holds an element of tile a / PIECES. Every group has a slice of the places, the
   same of all tiles; where a flip wants it, of the tile's end. */
#define PIECES (HELD >> CLUSTER_LOG2)

FUNCTION u32 cluster_place(u32 a, bool flipped)
{
    u32 place = RANK << (TILE_LOG2 - CLUSTER_LOG2) | a % PIECES << (TILE_LOG2 - HELD_LOG2) | HIDDEN(ITEM);
    return PADDED(flipped ? TILE - 1 - place : place);
}

/* The merge of neighbouring runs of 2^(TILE_LOG2 + bits - 1) elements, in shift 0 before and afterwards. */
FUNCTION void merge_cluster(Element *tile, Element *x, int bits)
{
    put(tile, x, 0, false);
    cluster_barrier();
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        x[a] = tile_of(tile, a / PIECES)[cluster_place(a, a / PIECES >> (bits - 1) & 1)];
    }
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        if (!(a / PIECES >> (bits - 1) & 1)) {
            order(&x[a], &x[a ^ ((1 << bits) - 1) * PIECES]);
        }
    }
    UNROLL for (int bit = CLUSTER_LOG2 - 1; bit >= 0; bit--)
    {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            if (bit < bits - 1 && !(a / PIECES >> bit & 1)) {
                order(&x[a], &x[a | PIECES << bit]);
            }
        }
    }
    UNROLL for (u32 a = 0; a < HELD; a++)
    {
        tile_of(tile, a / PIECES)[cluster_place(a, a / PIECES >> (bits - 1) & 1)] = x[a];
    }
    cluster_barrier();
    int top = TILE_LOG2 - HELD_LOG2;
    take(tile, x, top, false);
    clean(x, HELD_LOG2);
    clean_tile(tile, x, top, top, false, ALL_WORK);
}
#endif
