/* Columnsort's second pass: from the working memory to the array. A group for every new column, or a cluster of groups
   where it is longer than a tile. */

KERNEL(ITEMS)
gather(COLUMN_PARAMETERS)
{
    LOCAL_ARRAY(Element, tile, LOCAL_ELEMENTS);
    BEGIN_CHUNK(GROUP >> (DEALT_LOG2 + CLUSTER_LOG2))
    Index new_column = GROUP >> CLUSTER_LOG2 & ((1 << DEALT_LOG2) - 1);
    u32 new_length = (u32)columns * RUN;
    Index from = new_column * new_length;
    u32 first = RANK << TILE_LOG2;
    bool whole = first + TILE <= new_length;
    Element x[HELD];
    AFTER_PREVIOUS();
    if (whole) {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            x[a] = load(WORK_NAMES, from + first + place_of(a, RUN_SHIFT, true));
        }
    } else {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 place = first + place_of(a, RUN_SHIFT, true);
            x[a] = infinite();
            if (place < new_length) {
                x[a] = load(WORK_NAMES, from + place);
            }
        }
    }
    merge_runs(tile, x);
#if CLUSTER_LOG2
    UNROLL for (int bits = 1; bits <= CLUSTER_LOG2; bits++)
    {
        merge_cluster(tile, x, bits);
    }
#endif
    exchange(tile, x, 0, false, STREAMED, false, ALL_WORK);
    LET_NEXT_START();
    /* The piece for every old column lies there where its first pass will find runs. */
    if (whole && length == columns << TILE_LOG2) {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 place = first + place_of(a, STREAMED, false);
            Index to = ((Index)(place >> RUN_LOG2) << TILE_LOG2) + new_column * RUN + (place & (RUN - 1));
            store(ARRAY_NAMES, to, x[a]);
        }
    } else {
        UNROLL for (u32 a = 0; a < HELD; a++)
        {
            u32 place = first + place_of(a, STREAMED, false);
            Index to = ((Index)(place >> RUN_LOG2) << TILE_LOG2) + new_column * RUN + (place & (RUN - 1));
            if (place < new_length) {
                store(AT(to), x[a]);
            }
        }
    }
}
