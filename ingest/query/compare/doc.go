// Package compare compares two recordings: the cost of each function, module, file, thread
// and stack in A (the baseline) and B (the candidate), and the confidence that each
// difference is more than noise. Its tables have the groupings of single recordings.
//
// # Numbers
//
// The metrics of both sides are brought to one scale exactly (microseconds and
// nanoseconds, different decimals). Without normalisation ([Raw]) every number
// is what the files say. The other normalisations scale B to A:
//
//	Total      by the ratio of the totals, so that both totals are A's
//	Duration   by the ratio of the durations of what is compared
//	Samples    by the ratio of the numbers of samples (spans, for traces)
//	Calls      both sides, to what one call of the scopes' sets has; without sets,
//	           each function of B to the number of its calls in A
//	Auto       Calls where the sides are sets of calls, or traces whose numbers of calls
//	           differ by more than a tenth; else Raw
//
// Scaled values are no integers. They are kept to as many decimals more as fit
// (up to six), and what rounding is left is shared out over the stacks so that
// running sums are never off by more than half of the last decimal. So the self
// values of functions, modules, files, threads or stacks always add up to the
// total, and their differences to the difference of the totals, to the last
// digit, in every normalisation. Several recordings a side are averaged the
// same way.
//
// # Matching
//
// Functions are matched by hand first, then by name and module, then by name, then by
// what is left of names without what changes from build to build. No function is matched
// twice. See package match.
//
// # Confidence
//
// Each row of a [Table] has a p-value for its difference, made into a q-value
// over the table (Benjamini and Hochberg, with half of the level for self and
// half for total), and a confidence of 1-q: of all rows with a confidence of at
// least 0.95, at most 5 % are expected to be false alarms. The method depends on
// what was recorded.
//
// [FromRuns], with at least two recordings on both sides: Welch's t-test on the
// values of the runs. It is the only method that knows how much the program
// varies from run to run, and is used wherever it can be. Where samples were
// counted the variance is taken to be at least what counting them alone makes.
//
// [FromCounts], for sampled profiles: samples are taken to hit a function
// independently of each other, so that their number is a Poisson variable. The
// weight behind n samples has a variance of the sum of v²/n over the stacks of
// weight v; period-mode weights are thus judged by their samples, not by the
// size of the periods. A weight W of variance V is treated as W²/V samples of
// V/W each (Bohm and Zech 2014), V/W being taken from both sides together; that
// is exact where all samples weigh the same.
// Raw and by duration, the two numbers are compared given their sum (a binomial
// test, whose expected share is the ratio of the weights of one sample). By
// total and by samples, the shares of the totals are compared (Fisher's exact
// test). Heap profiles of Go and C++ tell how many objects their values are
// for, from which the number of samples follows. The model is optimistic where
// samples come in bursts, and it knows nothing of the machine: two runs of one
// program also differ by its caches, its neighbours and its input. What it calls
// noise is noise; what it calls a difference is one between these two
// recordings.
//
// [FromDurations], for traces: the durations of a function's spans are compared by
// rank (Mann and Whitney), and the shift of a typical span is the median of all
// pairwise differences (Hodges and Lehmann). The number of spans is compared
// as counts are, where it differs; the row then has twice the smaller of both
// p-values. Of each function's spans up to 2,048 a side are ranked (fewer where
// there are more than a thousand functions, but at least 128), drawn at random, the
// same ones every time, with stored recordings too ([SumDurations]); their number,
// sum and variance are those of all. Normalised by total, durations are scaled by the
// ratio of the mean spans and numbers of spans by the ratio of theirs. Spans that follow
// each other on a busy machine are not independent, so here too several recordings are
// better.
//
// Beside the p-value a row has an interval of 95 % for its difference and the
// smallest difference that recordings like these show four times in five
// ([Confidence.Detectable]).
package compare
