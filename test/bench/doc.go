// Package bench measures whole passes in virtual time: the engine, a driver and its simulated cloud together. Benchmarks of single packages
// are in these packages. One benchmark runs Muster's controller and Cluster API's over caches, as in a manager. Fleets are many pools of
// one account with concurrent workers, as in a manager.
package bench
