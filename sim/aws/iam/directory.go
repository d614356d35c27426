package iam

import (
	"cmp"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
)

// Directory holds the IAM resources of an account, which all regions share.
type Directory struct {
	account  string
	seed     sim.Seed
	Sequence *core.Table[core.Sequence]
	Roles    *core.Table[Role]
	policies *core.Table[managedPolicy]
	Profiles *core.Table[Profile]
}

// Role is a role. Its key is its name, which is the same in any case.
type Role struct {
	Name, Path, ID, Trust, Description, Boundary string
	Created                                      time.Time
	// Known is when other services get to know of it.
	Known      time.Time
	MaxSession int32
	Tags       map[string]string
	// Attached are the ARNs of managed policies, Inline the documents of its own by name.
	Attached []string
	Inline   map[string]string
}

// managedPolicy is a policy of the account's own.
type managedPolicy struct {
	Name, Path, ID, Document, Description string
	Created                               time.Time
	Tags                                  map[string]string
}

// Profile is an instance profile, with at most one role.
type Profile struct {
	Name, Path, ID, Role string
	Created              time.Time
	Tags                 map[string]string
}

// Folder stands where a region stands in the keys of what an account holds.
const Folder = "iam"

// NewDirectory returns an empty directory.
func NewDirectory(seed sim.Seed, id string) *Directory {
	p := id + "/" + Folder + "/"
	return &Directory{
		account: id, seed: seed, Sequence: core.NewTable[core.Sequence](p + "sequence/"), Roles: core.NewTable[Role](p + "role/"),
		policies: core.NewTable[managedPolicy](p + "policy/"), Profiles: core.NewTable[Profile](p + "profile/"),
	}
}

// Tables returns the tables of the directory.
func (d *Directory) Tables() core.Tables {
	return core.Tables{d.Sequence, d.Roles, d.policies, d.Profiles}
}

// NewID makes the next ID of a kind, such as AROA0123456789ABCDEF0.
func (d *Directory) NewID(prefix string) string {
	return prefix + strings.ToUpper(d.seed.Hex(17, d.account, prefix, core.Next(d.Sequence, "all")))
}

// ARN returns the ARN of a resource of the account.
func (d *Directory) ARN(kind, path, name string) string {
	return "arn:aws:iam::" + d.account + ":" + kind + cmp.Or(path, "/") + name
}

// RoleKey returns the key of a role or profile, which is the same in any case.
func RoleKey(name string) string { return strings.ToLower(name) }

// Named finds the role that an ARN or a name names, nil for none.
func (d *Directory) Named(arn string) *Role {
	r := d.Roles.Get(RoleKey(arn[strings.LastIndex(arn, "/")+1:]))
	if r == nil || strings.HasPrefix(arn, "arn:") && arn != d.ARN("role", r.Path, r.Name) {
		return nil
	}
	return r
}

// Has reports whether the role of that ARN or name exists.
func (d *Directory) Has(arn string) bool { return d.Named(arn) != nil }

// Read is a managed policy.
func (d *Directory) Read(arn string) (Policy, error) {
	text, err := d.Document(arn)
	if err != nil {
		return Policy{}, err
	}
	return ParsePolicy([]byte(text))
}

// PoliciesOf are all policies of a role.
func (d *Directory) PoliciesOf(r *Role) ([]Policy, error) {
	var out []Policy
	for _, arn := range r.Attached {
		p, err := d.Read(arn)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	for _, text := range r.Inline {
		p, err := ParsePolicy([]byte(text))
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}
