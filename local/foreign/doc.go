// Package foreign makes definitions of kinds that the clouds' providers own and that Muster only reads: infrastructure clusters,
// control planes and identities. Their controllers are not in the local world, so their definitions are not either; these keep
// whatever fields an object has. Which kinds there are is listed for each cloud below local/clouds.
package foreign
