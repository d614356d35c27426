// Package s3 simulates the buckets of Amazon S3 that machines boot from.
package s3

import (
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/account"
)

// Service is S3 of an account in a region.
type Service struct {
	*account.Core
	// Buckets are those that the account has.
	Buckets []Bucket
	// Objects are what lies in them, by "bucket/key".
	Objects *sim.Table[storedObject]
}

// New returns the service of an account in a region, with empty buckets.
func New(core *account.Core, buckets []Bucket) *Service {
	return &Service{Core: core, Buckets: buckets, Objects: sim.NewTable[storedObject](core.Prefix() + "s3-object/")}
}
