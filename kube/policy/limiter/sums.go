package limiter

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/policy"
)

// policyKey identifies the object of a policy. It stays the same when the policy is changed, and is another one when the policy is created
// again.
type policyKey struct {
	kind, namespace, name string
	uid                   types.UID
}

func keyOf(p *policy.Policy) policyKey { return policyKey{p.Kind, p.Namespace, p.Name, p.Meta().UID} }

// keysOf returns the identities of policies.
func keysOf(policies []*policy.Policy) []policyKey {
	keys := make([]policyKey, 0, len(policies))
	for _, p := range policies {
		keys = append(keys, keyOf(p))
	}
	return keys
}

// account identifies a count of pools: those of a policy, or of a policy in one Cluster.
type account struct {
	policy     policyKey
	perCluster bool
	// cluster is that of the pools if perCluster is true. It is empty for pools without a Cluster.
	cluster client.ObjectKey
}

// accountOf returns the account that a budget limits for the pools of a Cluster.
func accountOf(b policy.Budget, cluster client.ObjectKey) account {
	if b.Per != musterv1.BudgetPerCluster {
		return account{policy: keyOf(b.Policy)}
	}
	return account{policy: keyOf(b.Policy), perCluster: true, cluster: cluster}
}

// sums hold the use of the pools of each account together. They follow each change of a pool, so that reading one costs the same whatever
// the number of pools.
type sums map[account]sum

// sum is that of one account.
type sum struct {
	policy.Usage
	// pools is the number of pools, with those that use nothing.
	pools int
}

// add adds a pool to its accounts, or removes it if sign is -1.
func (s sums) add(e entry, sign int) {
	machines, rolling := e.use()
	for _, p := range e.policies {
		for _, a := range [...]account{{policy: p}, {policy: p, perCluster: true, cluster: e.cluster}} {
			one := s[a]
			one.pools += sign
			one.Desired += sign * e.desired
			one.Replacing += sign * machines
			if rolling {
				one.Rollouts += sign
			}
			if s[a] = one; one.pools == 0 {
				delete(s, a)
			}
		}
	}
}
