// Package bench measures whole passes: the engine, a driver and its simulated cloud together, in virtual time. What it
// measures is the work of the whole and not that of one package, whose benchmarks stand beside it.
package bench
