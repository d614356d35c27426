// Package seed brings manifests into a world: it reads them from files, fills in their variables as clusterctl does, adds
// the cluster around pools that name one which no manifest brings, and applies each object once in the life of a world, so
// that a restart never undoes what the user has changed since.
package seed
