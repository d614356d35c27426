// Package ssm simulates the public parameters of AWS Systems Manager.
package ssm

import "github.com/muster-project/muster/sim/aws/account"

// Service is SSM of an account in a region.
type Service struct{ *account.Core }

// New returns the service of an account in a region.
func New(base *account.Core) *Service { return &Service{base} }
