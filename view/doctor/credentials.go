package doctor

import (
	"fmt"

	"github.com/muster-project/muster/cloud"
)

// credentials checks that the identity of each cluster leads to credentials. Values are never read.
func credentials(f Installation) []Finding {
	var found []Finding
	for _, i := range f.Identities {
		one := Finding{Severity: OK, Object: fmt.Sprintf("Cluster %s/%s", i.Namespace, i.Cluster)}
		switch {
		case i.Message != "":
			one.Severity, one.Fact, one.Action = Problem, i.Reason+": "+i.Message, "correct the identity: docs/credentials.md"
		case i.Name == "":
			one.Fact = i.Object + " names no identity: the manager's own credentials are used"
		default:
			one.Fact = i.Object + " names " + i.Name + ", which exists with its keys and allows this namespace"
		}
		found = append(found, one)
	}
	return found
}

// permissions reports calls that a cloud has denied, and states what cannot be checked: only the cloud knows the permissions of
// credentials, and only the manager has these.
func permissions(f Installation) []Finding {
	var found []Finding
	for _, p := range f.Providers {
		pools := 0
		for _, k := range p.Kinds {
			pools += f.poolsOf(k)
			for _, is := range f.Pools {
				if is.Kind == k.GroupKind {
					found = append(found, is.denied()...)
				}
			}
		}
		if pools > 0 {
			found = append(found, unchecked(p.Title, "what the credentials of the manager allow is not asked: only refused calls are seen",
				"compare with muster generate iam"))
		}
	}
	return found
}

// denied has a finding for each message of a call that was refused.
func (p Pool) denied() (found []Finding) {
	seen := map[string]bool{}
	for _, c := range p.Conditions {
		if c.Reason == string(cloud.Denied) && !seen[c.Message] {
			seen[c.Message] = true
			found = append(found, problem(p.object(), c.Message, "grant the permission: muster generate iam"))
		}
	}
	return found
}
