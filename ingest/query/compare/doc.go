// Package compare compares two recordings: the cost of each function, module, file,
// thread and stack in A (the baseline) and B (the candidate), and the confidence that
// each difference is more than noise. Its tables have the groupings of single recordings.
//
// # Numbers
//
// The metrics of both sides are brought to one scale exactly (microseconds and
// nanoseconds, different decimals). Without normalisation ([Raw]) every number is what
// the files say. The other normalisations scale B to A:
//
//	Total      by the ratio of the totals, so that both totals are A's
//	Duration   by the ratio of the durations of what is compared
//	Samples    by the ratio of the numbers of samples (spans, for traces)
//	Calls      both sides to one call of the scopes' sets; without sets, each function
//	           of B to the number of its calls in A
//	Auto       Calls if the sides are sets of calls, or traces whose numbers of calls
//	           differ by more than a tenth; else Raw
//
// Scaled values are not integers. They get up to six more decimals, as far as 64 bits
// allow, and the rounding error is spread over the stacks, so that running sums are off
// by at most half of the last decimal. So the self values of functions, modules, files,
// threads or stacks always add up to the total, and their differences to the difference
// of the totals, to the last digit, in every normalisation. Several recordings per side
// are averaged in the same way.
//
// # Matching
//
// Functions are matched by hand first, then by name and module, then by name, then by
// name without the parts that change from build to build. No function is matched twice.
// See package match.
//
// # Confidence
//
// Each row of a [Table] has a p-value for its difference, made into a q-value over the
// table (Benjamini and Hochberg, with half of the level for self and half for total), and
// a confidence of 1-q: of all rows with a confidence of at least 0.95, at most 5 % are
// expected to be false alarms. The method depends on what was recorded.
// If samples were counted and at least twelve functions have two a run, all functions together
// also tell how much one usually varies beyond the number of its samples. The variance of a
// row is then a mean of its own and that expected one, weighted by how well the functions
// agree, so that five runs tell a new function of a dozen samples from noise (see stats.Prior).
//
// [FromRuns], with at least two recordings on both sides: Welch's t-test on the values of
// the runs. It is the only method that knows how much the program varies from run to run,
// and is preferred. If samples were counted, the variance is at least that of their
// count. With at least four functions, the factors that all have in common are taken out
// first: of each run within its side (the median of the functions' costs), and between the
// sides (see stats.Common). A machine is faster in some minutes than in others, and a run
// that lasts twice as long costs twice as much everywhere. So a row is tested against the
// common factor. Its interval, its spread and the comparison of the totals use the values as
// recorded.
//
// [FromCounts], for sampled profiles: samples are assumed to hit a function independently
// of each other, so their number is a Poisson variable. The weight of n samples has a
// variance of the sum of v²/n over the stacks of weight v, so period-mode weights are
// judged by their number of samples, not by the size of the periods. A weight W of
// variance V is treated as W²/V samples of V/W each (Bohm and Zech 2014), with V/W from
// both sides together; this is exact if all samples have the same weight. Heap profiles of
// Go and C++ contain the number of objects behind each value, which gives the number of
// samples. Two runs of one program also differ by caches, neighbours and input. How much
// is learned from all functions (see stats.Between): their costs have one common factor,
// and each varies around it by an unknown deviation. A row is tested against the common
// factor, whatever the normalisation, by a binomial test given the sum of both numbers,
// whose distance is then reduced by the deviation. Functions that exchange cost from run to
// run (one that only another calls, or those on one side only at one place) count as one
// for the deviation. Rows with fewer than eight samples are not tested. The total is
// compared by its number of samples alone, because one run a side tells nothing about its
// spread.
//
// [FromDurations], for traces: the durations of a function's spans are compared by rank
// (Mann and Whitney), and the shift of a typical span is the median of all pairwise
// differences (Hodges and Lehmann). If the numbers of spans differ, they are compared
// like counts; the row then has twice the smaller of both p-values. At most 2,048 spans
// of a function per side are ranked (fewer if there are more than a thousand functions,
// but at least 128). They are drawn at random with a fixed seed, also from stored
// recordings ([SumDurations]); the number, sum and variance are those of all spans. With
// Total, durations are scaled by the ratio of the mean spans, and numbers of spans by
// their own ratio. Consecutive spans on a busy machine are not independent, so several
// recordings are better here too.
//
// A row also has a 95 % interval for its difference, and the smallest difference that
// recordings like these reveal four times out of five ([Confidence.Detectable]).
package compare
