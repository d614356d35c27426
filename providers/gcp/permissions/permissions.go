// Package permissions lists what credentials must allow so that Muster can run machine pools on Google Cloud, as data: each permission with
// the reason why it is needed, and the custom role that holds these and nothing else. Every test of a driver runs under exactly these.
package permissions

import (
	"fmt"
	"regexp"
	"slices"
)

// DefaultTitle is the default title of the role.
const DefaultTitle = "Muster machine pools"

// Options choose what is allowed. The zero Options allow everything that pools of any kind need.
type Options struct {
	// Title of the role; empty means DefaultTitle.
	Title string
	// Project in which the role is made; empty leaves it out.
	Project string
}

// Permission is one permission with the reason why it is needed.
type Permission struct {
	// Name is the one that roles use: compute.instanceGroupManagers.get.
	Name string
	// Why it is needed.
	Why string
	// ByService is true if Muster never uses it directly: Google checks it for another call.
	ByService bool
}

// Grant allows permissions on resources.
type Grant struct {
	// At describes the narrowest resource on which the permissions have to be granted.
	At string
	// Permissions that are granted.
	Permissions []Permission
}

// Grants are everything that the options allow, in a fixed order.
func Grants(o Options) ([]Grant, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return slices.Concat(groups(), nodePools()), nil
}

var project = regexp.MustCompile(`^([a-z][a-z0-9.-]*:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$`)

func (o Options) check() error {
	if o.Project != "" && !project.MatchString(o.Project) {
		return fmt.Errorf("project %q: want the ID of a project, 6 to 30 lower-case letters, digits and dashes", o.Project)
	}
	return nil
}

// Role is a custom role as "gcloud iam roles create --file" takes it.
type Role struct {
	Title               string   `json:"title"`
	Description         string   `json:"description"`
	Stage               string   `json:"stage"`
	IncludedPermissions []string `json:"includedPermissions"`
}

// RoleOf is the role of the options.
func RoleOf(o Options) (Role, error) {
	grants, err := Grants(o)
	if err != nil {
		return Role{}, err
	}
	role := Role{Title: o.Title, Description: "What Muster needs to run machine pools.", Stage: "GA", IncludedPermissions: []string{}}
	if role.Title == "" {
		role.Title = DefaultTitle
	}
	for _, g := range grants {
		for _, p := range g.Permissions {
			role.IncludedPermissions = append(role.IncludedPermissions, p.Name)
		}
	}
	slices.Sort(role.IncludedPermissions)
	role.IncludedPermissions = slices.Compact(role.IncludedPermissions)
	return role, nil
}

// Allows reports whether the role holds a permission.
func (r Role) Allows(permission string) bool {
	return slices.Contains(r.IncludedPermissions, permission)
}
