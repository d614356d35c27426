// Package s3 simulates the buckets of Amazon S3 that machines boot from.
package s3

import (
	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/core"
)

// Service is S3 of an account in a region.
type Service struct {
	*account.Core
	// Buckets are those that the account has.
	Buckets []Bucket
	// Objects are what lies in them, by "bucket/key".
	Objects *core.Table[storedObject]
}

// New returns the service of an account in a region, with empty buckets.
func New(base *account.Core, buckets []Bucket) *Service {
	return &Service{Core: base, Buckets: buckets, Objects: core.NewTable[storedObject](base.Prefix() + "s3-object/")}
}
