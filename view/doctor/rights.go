package doctor

import (
	"fmt"
	"strings"
)

// namedRights bounds the missing permissions that a finding lists.
const namedRights = 5

// rights checks that the manager's service account may do what the generated roles grant.
func rights(f Installation) []Finding {
	if f.Rights == nil {
		return nil
	}
	object := "ServiceAccount " + f.Rights.Account
	missing := f.Rights.Missing
	if len(missing) == 0 {
		return []Finding{{Severity: OK, Object: object, Fact: fmt.Sprintf("has all %d rights that the manager needs", f.Rights.Checked)}}
	}
	var names []string
	for _, r := range missing[:min(len(missing), namedRights)] {
		names = append(names, r.String())
	}
	fact := "may not " + strings.Join(names, "; ")
	if more := len(missing) - namedRights; more > 0 {
		fact += fmt.Sprintf("; and %d more", more)
	}
	return []Finding{{Severity: Problem, Object: object, Fact: fact, Action: "install Muster's roles again: docs/install.md"}}
}

// String words a right.
func (r Right) String() string {
	text := r.Verb + " " + r.Resource
	if r.Group != "" {
		text += "." + r.Group
	}
	if r.Name != "" {
		text += " " + r.Name
	}
	if r.Namespace != "" {
		text += " in namespace " + r.Namespace
	}
	return text
}
