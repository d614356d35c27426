package status

import (
	"fmt"
	"strings"
)

// Reasons beside those of the ecosystem.
const (
	// ClusterDoesNotExistReason says that the pool names a Cluster that is not there.
	ClusterDoesNotExistReason = "ClusterDoesNotExist"
	// DataSecretProvidedReason says that the user brought the bootstrap data, or that the pool needs none.
	DataSecretProvidedReason = "DataSecretProvided"
	// VersionNotSupportedReason says that the bootstrap provider can't make data for the pool's Kubernetes version.
	VersionNotSupportedReason = "VersionNotSupported"
	// BootstrapMissingReason says that the pool names no way to bootstrap its machines.
	BootstrapMissingReason = "BootstrapMissing"
	// KindNotInstalledReason says that no provider of the kind that the pool refers to is installed.
	KindNotInstalledReason = "KindNotInstalled"
	// OwnedByAnotherReason says that what the pool refers to has another controller.
	OwnedByAnotherReason = "OwnedByAnother"
	// ReferenceRefusedReason is the reason for a reference to something else than an object of an infrastructure or a bootstrap provider
	// for pools. The object is neither followed nor deleted.
	ReferenceRefusedReason = "ReferenceRefused"
	// DataSecretRefusedReason is the reason for a bootstrap data secret that holds the credentials of a Cluster.
	DataSecretRefusedReason = "DataSecretRefused"
)

// namesShown bounds how many names a message lists: a message is read by people, and its size is limited.
const namesShown = 3

// names lists the first few of some names and counts the rest.
func names(all []string) string {
	if len(all) <= namesShown {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:namesShown], ", "), len(all)-namesShown)
}

// issues says what is wrong with the machines that exist, most basic first.
func (f *Facts) issues() string {
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

// shortfall says why fewer machines are available than wanted.
func (f *Facts) shortfall(available, desired int32) string {
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
