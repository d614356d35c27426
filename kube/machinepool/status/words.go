package status

import (
	"fmt"
	"strings"
)

// Reasons in addition to those of Cluster API.
const (
	// ClusterDoesNotExistReason is the reason for a pool whose Cluster does not exist.
	ClusterDoesNotExistReason = "ClusterDoesNotExist"
	// DataSecretProvidedReason is the reason if the user provides the bootstrap data, or the pool needs none.
	DataSecretProvidedReason = "DataSecretProvided"
	// VersionNotSupportedReason is the reason if the bootstrap provider does not support the pool's Kubernetes version.
	VersionNotSupportedReason = "VersionNotSupported"
	// BootstrapMissingReason is the reason if the pool has neither a bootstrap configuration nor a data secret.
	BootstrapMissingReason = "BootstrapMissing"
	// KindNotInstalledReason is the reason for a reference to a kind that is not installed.
	KindNotInstalledReason = "KindNotInstalled"
	// OwnedByAnotherReason is the reason for a reference to an object with another controller.
	OwnedByAnotherReason = "OwnedByAnother"
	// ReferenceRefusedReason is the reason for a reference to something else than an object of an infrastructure or a bootstrap provider
	// for pools. The object is neither followed nor deleted.
	ReferenceRefusedReason = "ReferenceRefused"
	// DataSecretRefusedReason is the reason for a bootstrap data secret that holds the credentials of a Cluster.
	DataSecretRefusedReason = "DataSecretRefused"
)

// Messages list so many names, and events so many.
const namesShown, eventNamesShown = 3, 5

// names lists the first names of a condition's message and counts the rest.
func names(all []string) string { return firstNames(all, namesShown) }

// FirstNames lists the first names of an event's text and counts the rest.
func FirstNames(all []string) string { return firstNames(all, eventNamesShown) }

func firstNames(all []string, shown int) string {
	if len(all) <= shown {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:shown], ", "), len(all)-shown)
}

// issues returns what is wrong with the machines that exist, the most basic problem first.
func (f *pass) issues() string {
	n := f.Nodes
	if n == nil {
		return f.NodesUnknown
	}
	var all []string
	if len(n.Missing) > 0 {
		all = append(all, "no node yet for "+names(n.Missing))
	}
	if len(n.NotReady) > 0 {
		all = append(all, "not Ready: "+names(n.NotReady))
	}
	return strings.Join(all, "; ")
}

// shortfall returns why fewer machines are available than desired.
func (f *pass) shortfall(available, desired int32) string {
	var all []string
	if have := f.replicas(); have < desired {
		all = append(all, fmt.Sprintf("%s has %d instances", f.Infrastructure, have))
	}
	if text := f.issues(); text != "" {
		all = append(all, text)
	}
	if f.Nodes != nil && len(f.Nodes.Settling) > 0 {
		all = append(all, "Ready for less than minReadySeconds: "+names(f.Nodes.Settling))
	}
	if f.Nodes != nil && len(f.Nodes.Leaving) > 0 {
		all = append(all, "drained or being deleted: "+names(f.Nodes.Leaving))
	}
	text := fmt.Sprintf("%d of %d replicas are available", available, desired)
	if len(all) == 0 {
		return text
	}
	return text + ": " + strings.Join(all, "; ")
}
