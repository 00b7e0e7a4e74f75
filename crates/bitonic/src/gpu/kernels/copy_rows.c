/* Rows that do not lie one after the other, copied to where they do, or back.

   Element i of row r is at r * row_stride + i * stride of `keys`, and at r * row_length + i of `work_keys`. A group takes SIDE rows of SIDE
   elements through local memory, and neighbouring work-items always take neighbours in memory: in `work_keys` elements of one row, in
   `keys` elements of one row or, where ROWS_ARE_NEAR is set, of neighbouring rows. So whole lines of memory are read and written, also
   where rows are the columns of a matrix.

   GATHER is 1 for the way to `work_keys`, 0 for the way back. One unused element behind every row in local memory keeps the work-items of a
   sub-group in different banks. */

#define IN_TILE(row, column) tile[(row) * (SIDE + 1) + (column)]
#define LINES (ITEMS / SIDE)

/* Where the element of a work-item is in the tile, in its turn for a line: neighbours in `keys`, and in `work_keys`. */
#define ROW_IN_KEYS (ROWS_ARE_NEAR ? in_line : line)
#define COLUMN_IN_KEYS (ROWS_ARE_NEAR ? line : in_line)

KERNEL(ITEMS)
copy_rows(ALL_ARRAYS, Index rows, Index row_length, Index row_stride, Index stride)
{
    LOCAL_ARRAY(Key, tile, SIDE * (SIDE + 1));
    Index tiles_of_row = (row_length + SIDE - 1) / SIDE;
    Index first_row = GROUP / tiles_of_row * SIDE, first_column = GROUP % tiles_of_row * SIDE;
    u32 in_line = ITEM % SIDE;
    AFTER_PREVIOUS();
    UNROLL for (u32 turn = 0; turn < SIDE / LINES; turn++)
    {
        u32 line = turn * LINES + ITEM / SIDE;
#if GATHER
        Index row = first_row + ROW_IN_KEYS, column = first_column + COLUMN_IN_KEYS;
        if (row < rows && column < row_length) {
            IN_TILE(ROW_IN_KEYS, COLUMN_IN_KEYS) = keys[row * row_stride + column * stride];
        }
#else
        Index row = first_row + line, column = first_column + in_line;
        if (row < rows && column < row_length) {
            IN_TILE(line, in_line) = work_keys[row * row_length + column];
        }
#endif
    }
    BARRIER();
    UNROLL for (u32 turn = 0; turn < SIDE / LINES; turn++)
    {
        u32 line = turn * LINES + ITEM / SIDE;
#if GATHER
        Index row = first_row + line, column = first_column + in_line;
        if (row < rows && column < row_length) {
            work_keys[row * row_length + column] = IN_TILE(line, in_line);
        }
#else
        Index row = first_row + ROW_IN_KEYS, column = first_column + COLUMN_IN_KEYS;
        if (row < rows && column < row_length) {
            keys[row * row_stride + column * stride] = IN_TILE(ROW_IN_KEYS, COLUMN_IN_KEYS);
        }
#endif
    }
}
