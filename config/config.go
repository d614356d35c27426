// Package config embeds the roles of an installation, for commands that compare them with what a management cluster grants.
package config

import "embed"

// Roles are the generated and written roles of the manager: Manager, Core, LeaderElection and Namespaced name the files.
//
//go:embed rbac/role.yaml rbac/leader_election_role.yaml core/role.yaml namespaced/cluster_role.yaml
var Roles embed.FS

// The files of Roles.
const (
	// Manager has the rules of every manager.
	Manager = "rbac/role.yaml"
	// LeaderElection has those in the manager's own namespace.
	LeaderElection = "rbac/leader_election_role.yaml"
	// Core has those of the core MachinePool controller.
	Core = "core/role.yaml"
	// Namespaced has the rules for resources without a namespace, of a manager that watches one namespace.
	Namespaced = "namespaced/cluster_role.yaml"
)
