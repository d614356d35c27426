// Package foreign defines kinds that the providers of the clouds own and that Muster only reads: infrastructure clusters, Amazon's
// own control planes and identities. Their controllers are not in the local world, so their definitions are not either; these
// keep whatever fields an object has.
package foreign
