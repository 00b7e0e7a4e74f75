/* Sorting by buckets: two passes over memory whatever the length, for sorts that need not be oblivious.

       sample        sort a small sample of the elements; so and so many of them, evenly spaced, are the splitters
       scatter       every element to its bucket in the working memory, in any order
       bucket_sort   sort every bucket in a tile, and put it to its place in the array
       rescue        nothing, or what follows

   Bucket b holds the elements after splitter b-1 up to splitter b, those equal to it included. Splitters come from the
   elements themselves, so buckets are about as long as each other whatever the elements are. Only an element that is
   there so often that it is two splitters or more would make one too long: those equal to it are counted, not moved. They
   have the bucket after the first of these splitters, which no other element belongs to, and the groups of all buckets up
   to the last of them write the element down as often as it was there.

   If a bucket is too long all the same, which chance hardly ever makes and somebody who knows the places of the sample could
   bring about, the array is left as it is, `control` says so, and the last kernel sorts it another way.

   Working memory: `capacity` places for every bucket, then the splitters. */

#define BUCKET_PARAMETERS ALL_ARRAYS, GLOBAL u32 *control, Index total, u32 buckets, u32 capacity, u32 mapping

/* The counters, `control`, at places that the plan gives: FAILED, how many times a bucket was too long; LONG_COUNT, how many
   buckets are longer than a tile; from LENGTHS on, the length of every bucket; behind these, which buckets are longer than a
   tile, in any order. */
#define LONG_BUCKETS (LENGTHS + buckets)

FUNCTION Element splitter(WORK_ARRAYS, u32 buckets, u32 capacity, u32 number)
{
    return load(WORK_NAMES, (Index)buckets * capacity + number);
}
#define SPLITTER(number) splitter(WORK_NAMES, buckets, capacity, number)
