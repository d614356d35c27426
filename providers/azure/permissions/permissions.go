// Package permissions lists, as data, the permissions that Muster's credentials need to run machine pools on Azure: each action with its
// reason, and the custom role that allows these actions and nothing else. Azure roles do not support conditions on tags: their permissions
// are limited by the scopes at which the role is assigned.
//
// Every test of the driver runs under exactly these actions.
package permissions

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// DefaultName is the default name of the role.
const DefaultName = "Muster machine pools"

// Options choose what is allowed. The zero Options allow agent pools of AKS, and AzureMachinePools whose machines have no identity, or
// identities that another client made.
type Options struct {
	// Name of the role; empty means DefaultName. It is unique in a directory.
	Name string
	// Scopes at which the role may be assigned, as resource IDs: subscriptions, resource groups, or management groups.
	Scopes []string
	// RoleAssignments lets roles be given to the identities that Azure makes for scale sets (identity SystemAssigned). An identity
	// that may do that may give itself any role at the scope.
	RoleAssignments bool
}

// Action is one action with the reason why it is needed.
type Action struct {
	// Name is the one that roles use: Microsoft.Compute/virtualMachineScaleSets/write.
	Name string
	// Why it is needed.
	Why string
	// AgentPools is true if only agent pools of AKS need it.
	AgentPools bool
	// ByService is true if Muster never uses it directly: Azure checks it for another call.
	ByService bool
}

// Grant allows actions at scopes.
type Grant struct {
	// At describes the narrowest scope at which the actions have to be allowed.
	At string
	// Actions that are allowed.
	Actions []Action
}

const (
	atGroup        = "the cluster's resource group"
	atSubscription = "the subscription"
	atNetwork      = "the resource group of the network"
	atAKS          = "the managed cluster"
)

const (
	sets     = "Microsoft.Compute/virtualMachineScaleSets/"
	machines = sets + "virtualMachines/"
)

// Grants are everything that the options allow, in a fixed order.
func Grants(o Options) ([]Grant, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	all := []Grant{groups(), {At: atSubscription, Actions: []Action{
		{Name: "Microsoft.Compute/skus/read", Why: "which sizes there are, what they can do, and in which zones"},
		{Name: "Microsoft.Compute/locations/operations/read", Why: "why an operation failed, in Azure's words"},
	}}, {At: atNetwork, Actions: []Action{
		{Name: "Microsoft.Network/virtualNetworks/subnets/join/action", Why: "machines are in a subnet", ByService: true},
		{Name: "Microsoft.Network/loadBalancers/backendAddressPools/join/action",
			Why: "machines are behind the load balancer of outbound traffic", ByService: true},
	}}, agentPools(), references()}
	if o.RoleAssignments {
		all = append(all, Grant{At: "spec.systemAssignedIdentityRole.scope", Actions: []Action{
			{Name: "Microsoft.Authorization/roleAssignments/read", Why: "whether the identity of a scale set has its role"},
			{Name: "Microsoft.Authorization/roleAssignments/write", Why: "the identity of a scale set gets its role"},
			{Name: "Microsoft.Authorization/roleAssignments/delete", Why: "the pool is deleted, or its identity is another"},
		}})
	}
	return all, nil
}

// groups is about scale sets and their machines.
func groups() Grant {
	return Grant{At: atGroup, Actions: []Action{
		{Name: sets + "read", Why: "each pass looks at the scale set; at the subscription, one list reads those of all pools"},
		{Name: sets + "write", Why: "the scale set of a pool is made, gets another model, tags and extensions, and grows"},
		{Name: sets + "delete", Why: "the pool is deleted"},
		{Name: sets + "delete/action", Why: "chosen, drained machines go"},
		{Name: sets + "manualUpgrade/action", Why: "machines get what is changed in place: tags and extensions"},
		{Name: sets + "instanceView/read", Why: "why a scale set of mode Uniform failed"},
		{Name: machines + "read", Why: "each pass looks at the machines; which of mode Flexible are protected"},
		{Name: machines + "write", Why: "machines are protected from being chosen by Azure"},
		{Name: machines + "instanceView/read", Why: "each pass sees how machines of mode Uniform are", ByService: true},
		{Name: "Microsoft.Compute/virtualMachines/read",
			Why: "each pass looks at the machines of mode Flexible; at the subscription, two lists read those of all pools"},
		{Name: "Microsoft.Compute/virtualMachines/write", Why: "machines of mode Flexible get tags that are changed in place"},
		{Name: "Microsoft.Compute/virtualMachines/instanceView/read", Why: "each pass sees how they are", ByService: true},
	}}
}

// agentPools is about agent pools of AKS. Their machines are read as those of scale sets are, in the node resource group.
func agentPools() Grant {
	const clusters, pools = "Microsoft.ContainerService/managedClusters/", "Microsoft.ContainerService/managedClusters/agentPools/"
	return Grant{At: atAKS, Actions: []Action{
		{Name: clusters + "read", Why: "one read of a managed cluster shows all its agent pools", AgentPools: true},
		{Name: pools + "write", Why: "an agent pool is made, changed, grows and gets another version or size", AgentPools: true},
		{Name: pools + "delete", Why: "the pool is deleted", AgentPools: true},
		{Name: pools + "deleteMachines/action", Why: "chosen, drained machines go", AgentPools: true},
		{Name: pools + "upgradeNodeImageVersion/action", Why: "nodes get AKS's newest node image, where the specification asks for a newer one",
			AgentPools: true},
		{Name: pools + "upgradeProfiles/read", Why: "which node image is AKS's newest, before nodes get it", AgentPools: true},
		{Name: pools + "abort/action", Why: "an upgrade is ended that is not wanted any more", AgentPools: true},
		{Name: "Microsoft.ContainerService/locations/operations/read", Why: "why an operation failed, in AKS's words", AgentPools: true},
	}}
}

// references is about what the specification may name that another client made.
func references() Grant {
	return Grant{At: "what the specification names", Actions: []Action{
		{Name: "Microsoft.Compute/images/read", Why: "spec.template.image.id", ByService: true},
		{Name: "Microsoft.Compute/galleries/images/versions/read", Why: "spec.template.image.computeGallery of one's own, and sharedGallery",
			ByService: true},
		{Name: "Microsoft.Compute/diskEncryptionSets/read", Why: "diskEncryptionSet of a disk", ByService: true},
		{Name: "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action", Why: "spec.userAssignedIdentities", ByService: true},
	}}
}

// scope is a resource ID that a role may be assigned at.
var scope = regexp.MustCompile(`^/(subscriptions/[0-9A-Za-z-]+(/resourceGroups/[\w.()-]+)?|providers/Microsoft\.Management/managementGroups/[\w.()-]+)$`)

func (o Options) check() error {
	for _, s := range o.Scopes {
		if !scope.MatchString(s) {
			return fmt.Errorf("scope %q: want the ID of a subscription, a resource group or a management group, /subscriptions/ID or "+
				"/subscriptions/ID/resourceGroups/NAME", s)
		}
	}
	return nil
}

// Role is a custom role as "az role definition create" takes it.
type Role struct {
	Name             string   `json:"Name"`
	IsCustom         bool     `json:"IsCustom"`
	Description      string   `json:"Description"`
	Actions          []string `json:"Actions"`
	NotActions       []string `json:"NotActions"`
	DataActions      []string `json:"DataActions"`
	NotDataActions   []string `json:"NotDataActions"`
	AssignableScopes []string `json:"AssignableScopes"`
}

// RoleOf is the role of the options, which name at least one scope.
func RoleOf(o Options) (Role, error) {
	grants, err := Grants(o)
	if err != nil {
		return Role{}, err
	}
	if len(o.Scopes) == 0 {
		return Role{}, fmt.Errorf("a custom role names the scopes that it may be assigned at: want at least one, for example /subscriptions/ID")
	}
	role := Role{
		Name: o.Name, IsCustom: true, Description: "What Muster needs to run machine pools.", Actions: []string{},
		NotActions: []string{}, DataActions: []string{}, NotDataActions: []string{}, AssignableScopes: o.Scopes,
	}
	if role.Name == "" {
		role.Name = DefaultName
	}
	for _, g := range grants {
		for _, a := range g.Actions {
			role.Actions = append(role.Actions, a.Name)
		}
	}
	slices.Sort(role.Actions)
	return role, nil
}

// Allows reports whether the role allows an action, whatever the case of its letters.
func (r Role) Allows(action string) bool {
	return slices.ContainsFunc(r.Actions, func(a string) bool { return strings.EqualFold(a, action) })
}
