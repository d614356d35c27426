// Package bench measures whole passes: the engine, a driver and its simulated cloud together, in virtual time. What it
// measures is the work of the whole and not that of one package, whose benchmarks stand beside it. One runs a controller, beside
// that of Cluster API, over caches as a manager has them. Fleets are many pools of one account, over workers as a manager has them.
package bench
