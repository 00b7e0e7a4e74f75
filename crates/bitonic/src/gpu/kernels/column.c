/* Columnsort: sorts many tiles in four or more passes over memory, each of them a sort inside tiles.

   The elements are a matrix whose columns are tiles, one after the other in memory. Between passes they change places, so
   that every tile of the next pass has a part of every tile of the last one:

       deal     sort every column; deal its elements, one at a time, to 2^DEALT_LOG2 new columns
       gather   sort every new column; cut it into pieces of 2^RUN_LOG2, one for each of the old columns
       spread   sort every column
       shift    sort the second half of every column with the first half of the next

   Deal leaves a column of sorted runs of 2^RUN_LOG2 elements, and so does gather: only the longer merges are left to do.

   Why it sorts, for keys of 0 and 1 (others follow by the 0-1 principle): dealing a sorted column gives all new columns as
   many zeros, but for one. So new columns differ by less than the number of columns, and after they are gathered, all places
   hold 0 up to some place and 1 from another on, less than (columns - 1) * (new columns - 1) behind it. If that is at most half
   a column, the shift reaches both; if not, it takes more rounds of it, at offsets of half a column and of none in turn, each
   half a column further. No address depends on a key.

   There may be several such matrices, one for each chunk of the array, of which only the last may be shorter than
   `chunk_length`. Its last column is filled up with infinite elements, which travel with the others; until they are at
   the end, what lies past the end of the array is in `rest`. */

#define DEALT_LOG2 (TILE_LOG2 - RUN_LOG2)
#define RUN (1 << RUN_LOG2)

/* Working memory has for every chunk as many whole tiles as it has columns, and one for the rest. */
#if VALUE_BITS > 0
#define OF_CHUNK                                                                                                       \
    keys += start, values += start, work_keys += work, work_values += work;                                            \
    GLOBAL Key *rest_keys = work_keys + (columns << TILE_LOG2);                                                        \
    GLOBAL Value *rest_values = work_values + (columns << TILE_LOG2);
#define AT(place)                                                                                                      \
    (place) < length ? keys : rest_keys, (place) < length ? values : rest_values,                                      \
        (place) < length ? (place) : (place)-length
#else
#define OF_CHUNK                                                                                                       \
    keys += start, work_keys += work;                                                                                  \
    GLOBAL Key *rest_keys = work_keys + (columns << TILE_LOG2);
#define AT(place) (place) < length ? keys : rest_keys, (place) < length ? (place) : (place)-length
#endif

/* What every kernel is given; `mapping` is for the first and the last pass, `offset` for the shift. */
#define COLUMN_PARAMETERS ALL_ARRAYS, Index total, Index chunk_length, Index most_columns, u32 mapping, u32 offset

/* For the kernels: where the chunk begins, how long it is, how many columns it has, and the arrays from there on. */
#define BEGIN_CHUNK(number)                                                                                            \
    Index start = (number)*chunk_length, work = (number) * (most_columns + 1) << TILE_LOG2;                            \
    Index length = total - start < chunk_length ? total - start : chunk_length;                                        \
    Index columns = (length + TILE - 1) >> TILE_LOG2;                                                                  \
    OF_CHUNK

/* The same for kernels with so many groups for each chunk, and which of its columns is the group's. A short chunk may have
   no such column. */
#define BEGIN_COLUMN(groups)                                                                                           \
    BEGIN_CHUNK(GROUP / groups)                                                                                        \
    Index column = GROUP % groups;

/* The arrangement of the first merge of runs, which a column can be loaded in; and all merges from there on. */
#define RUN_SHIFT (RUN_LOG2 + 1 - HELD_LOG2)

FUNCTION void merge_runs(LOCAL Element *tile, Element *x)
{
    merge(x, HELD_LOG2);
    clean_tile(tile, x, RUN_SHIFT, RUN_SHIFT, true, ALL_WORK);
    UNROLL_MERGES for (int bits = RUN_LOG2 + 2; bits <= TILE_LOG2; bits++)
    {
        merge_tile(tile, x, bits, ALL_WORK);
    }
}

/* Loads and stores a tile of the chunk, part of which may be in `rest`. */
#define LOAD_CHUNK(first, SHIFT)                                                                                       \
    if ((first) + TILE <= length) {                                                                                    \
        UNROLL for (u32 a = 0; a < HELD; a++)                                                                          \
        {                                                                                                              \
            x[a] = load(ARRAY_NAMES, (first) + place_of(a, SHIFT, true));                                              \
        }                                                                                                              \
    } else {                                                                                                           \
        UNROLL for (u32 a = 0; a < HELD; a++)                                                                          \
        {                                                                                                              \
            Index place = (first) + place_of(a, SHIFT, true);                                                          \
            x[a] = load(AT(place));                                                                                    \
        }                                                                                                              \
    }
#define STORE_CHUNK(first)                                                                                             \
    if ((first) + TILE <= length) {                                                                                    \
        UNROLL for (u32 a = 0; a < HELD; a++)                                                                          \
        {                                                                                                              \
            store(ARRAY_NAMES, (first) + place_of(a, STREAMED, false), x[a]);                                          \
        }                                                                                                              \
    } else {                                                                                                           \
        UNROLL for (u32 a = 0; a < HELD; a++)                                                                          \
        {                                                                                                              \
            Index place = (first) + place_of(a, STREAMED, false);                                                      \
            store(AT(place), x[a]);                                                                                    \
        }                                                                                                              \
    }
