// Package foreign defines kinds that the AWS provider owns and that Muster only reads: infrastructure clusters, Amazon's own
// control planes and identities. Its own controllers are not in the local world, so their definitions are not either; these
// keep whatever fields an object has.
package foreign
