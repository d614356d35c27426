// Package permissions lists what credentials must allow so that Muster can run machine pools on Oracle Cloud, as data: each permission with
// the reason why it is needed, and the policy that allows these and nothing else. Every test of a driver runs under exactly these.
package permissions

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const (
	// DefaultGroup is the group of users that the policy is for if the options name nothing else.
	DefaultGroup = "muster"
	// placeOfCompartment stands in a policy where no compartment is named.
	placeOfCompartment = "COMPARTMENT_OCID"
	// The manager's service account, as its manifests name it.
	managerNamespace, managerAccount = "muster-system", "muster-manager"
)

// Options choose who is allowed, and where. The zero Options are for the group DefaultGroup.
type Options struct {
	// Group of the users whose API keys the identities of clusters hold.
	Group string
	// DynamicGroup has the instances that the manager runs on; it replaces Group.
	DynamicGroup string
	// WorkloadCluster is the OCID of the OKE cluster that the manager runs in, for its service account; it replaces Group.
	WorkloadCluster string
	// Compartment is the OCID of the compartment of the pools; empty leaves its place in the policy.
	Compartment string
}

// Permission is one permission with the reason why it is needed.
type Permission struct {
	// Name is the one that policies use: INSTANCE_POOL_READ.
	Name string
	// Why it is needed.
	Why string
	// ByService is true if Muster never uses it directly: Oracle Cloud checks it for another call.
	ByService bool
}

// Grant allows permissions on the resources of a compartment.
type Grant struct {
	// At describes the resources.
	At string
	// Permissions that are granted.
	Permissions []Permission
}

// Policy holds the statements of a policy, each of them as Oracle Cloud takes it.
type Policy []string

var (
	ocid = regexp.MustCompile(`^ocid1(\.[A-Za-z0-9_-]*){3,}$`)
	name = regexp.MustCompile(`^[A-Za-z0-9._@+/'-]+$`)
)

// PolicyOf returns the policy of the options: a statement for each grant.
func PolicyOf(o Options) (Policy, error) {
	subject, condition, err := o.subject()
	if err != nil {
		return nil, err
	}
	at := placeOfCompartment
	if o.Compartment != "" {
		if at = o.Compartment; !ocid.MatchString(at) {
			return nil, fmt.Errorf("compartment %q: want the OCID of a compartment", at)
		}
	}
	var out Policy
	for _, grant := range Grants() {
		var names []string
		for _, p := range grant.Permissions {
			names = append(names, p.Name)
		}
		slices.Sort(names)
		out = append(out, fmt.Sprintf("Allow %s to {%s} in compartment id %s%s", subject, strings.Join(names, ", "), at, condition))
	}
	return out, nil
}

// subject returns who is allowed, and the condition at the end of each statement.
func (o Options) subject() (subject, condition string, err error) {
	switch {
	case o.WorkloadCluster != "":
		if !ocid.MatchString(o.WorkloadCluster) {
			return "", "", fmt.Errorf("cluster %q: want the OCID of a cluster of OKE", o.WorkloadCluster)
		}
		return "any-user", fmt.Sprintf(" where all {request.principal.type = 'workload', request.principal.namespace = '%s', "+
			"request.principal.service_account = '%s', request.principal.cluster_id = '%s'}", managerNamespace, managerAccount,
			o.WorkloadCluster), nil
	case o.DynamicGroup != "":
		subject, o.Group = "dynamic-group ", o.DynamicGroup
	default:
		subject = "group "
	}
	if o.Group == "" {
		o.Group = DefaultGroup
	}
	if !name.MatchString(o.Group) {
		return "", "", fmt.Errorf("group %q: want the name of a group, without spaces", o.Group)
	}
	return subject + o.Group, "", nil
}

// Names returns the names of all permissions, in order.
func Names() []string {
	var out []string
	for _, grant := range Grants() {
		for _, p := range grant.Permissions {
			out = append(out, p.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
