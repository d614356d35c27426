// Package instancepool is the driver of OCIMachinePool: instance pools of Compute Management, and the instance configurations that their
// instances are launched from.
//
// An instance pool is found by its owner tags, and an instance configuration by its owner tags and the hash of its content: display names
// are not unique in OCI and decide nothing. A 404 may be a denial: a pool counts as gone only if it can't be read by its OCID and a list of
// its compartment does not have it.
package instancepool
