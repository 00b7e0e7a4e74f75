/* Keys of 8 or 16 bits are not moved. They are counted, and then written anew, each as often as it was counted:

       tally_clear   sets all counters to 0
       tally_count   every group counts keys in its local memory, and adds what it counted to the counters
       tally_sum     counters become starts: how many keys of its chunk are smaller than a key
       tally_fill    every group writes a tile of the result: it looks up which keys start in it

   A counter for every key there can be; behind them, for every chunk of CHUNK keys, how many there are. */

#define POSSIBLE (1u << KEY_BITS)
#define CHUNK (1u << CHUNK_LOG2)
#define CHUNKS (POSSIBLE >> CHUNK_LOG2)

#define TALLY_PARAMETERS ARRAYS, GLOBAL u32 *control, Index total, u32 mapping
