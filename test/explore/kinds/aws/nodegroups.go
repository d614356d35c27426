package aws

import (
	"fmt"
	"slices"
	"strings"

	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/oracle"
)

// nodegroups are those of a state as groups, with the members of what is behind them.
func (a *Account) nodegroups(state simaws.State, there there) []oracle.Group {
	behind := map[string]simaws.Group{}
	for _, g := range state.Groups {
		behind[g.Name] = g
	}
	list := make([]oracle.Group, 0, len(state.Nodegroups))
	for _, n := range state.Nodegroups {
		out := oracle.Group{
			Name: n.Name, Owner: n.Tags[TagOwner], Template: n.Source, Version: number(n.SourceVersion), Min: n.Min, Max: n.Max, Size: n.Desired,
			Deleting: n.Status == "DELETING", Failed: strings.HasSuffix(n.Status, "_FAILED"),
			Print: fmt.Sprintf("%d..%d %s %s:%s %s %s %v %v %t", n.Min, n.Max, n.Role, n.Source, n.SourceVersion, n.Version, n.Release,
				n.Labels, n.Tags,
				n.Status == "DELETING"),
			Tags: n.Tags, Untagged: fmt.Sprintf("%d..%d %s %s:%s %s %s %v %t", n.Min, n.Max, n.Role, n.Source, n.SourceVersion, n.Version, n.Release,
				n.Labels, n.Status == "DELETING"),
		}
		if g, ok := behind[n.Group]; ok {
			is := a.group(g, there)
			out.Members, out.Content, out.Size = is.Members, is.Content, is.Size
			out.Max = max(out.Max, is.Max) // EKS's own updates go above it
		}
		list = append(list, out)
	}
	return list
}

// ofEKS are the names of the groups and the templates that EKS keeps behind node groups.
func ofEKS(state simaws.State) map[string]bool {
	all := map[string]bool{}
	for _, n := range state.Nodegroups {
		all[n.Group], all[n.Template] = true, true
	}
	return all
}

// roles are those of the account.
func (a *Account) roles(state simaws.State) []oracle.Role {
	list := make([]oracle.Role, 0, len(state.Roles))
	for _, r := range state.Roles {
		role := oracle.Role{Name: r.Name, Owner: r.Tags[TagOwner], Print: fmt.Sprintf("%v %v", r.Attached, r.Tags)}
		if slices.Contains(r.Attached, TheirPolicy) {
			role.Theirs = []string{TheirPolicy}
		}
		list = append(list, role)
	}
	return list
}

// TheirPolicy is what other people attach to a role.
const TheirPolicy = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
