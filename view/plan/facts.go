package plan

import "github.com/muster-project/muster/kube/infrapool/preview"

// Facts are what a plan is made of: what a reconciler's pass would decide from.
type Facts = preview.Look

// Health are the bounds that a cloud's own roll keeps to.
type Health = preview.Health
