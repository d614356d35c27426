// Package iam simulates IAM: roles, policies and instance profiles, and the evaluation of policies for all services.
package iam

import (
	"github.com/muster-project/muster/sim/aws/account"
	"github.com/muster-project/muster/sim/aws/wire"
)

// Service is IAM as an account reaches it in a region.
type Service struct {
	Directory *Directory
	core      *account.Core
}

// New returns the service of an account in a region.
func New(base *account.Core, d *Directory) *Service { return &Service{Directory: d, core: base} }

// Asker returns what an action asks of the caller's policies.
type Asker[S any] func(s S, x *wire.Call, name string) ([]Ask, error)
