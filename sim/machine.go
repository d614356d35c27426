package sim

import "time"

// Machine is what a simulated cloud tells about an instance that it powers on: what a real machine would learn from its
// image, its firmware and its metadata service.
type Machine struct {
	// Cloud and Region that it runs in, Zone within the region as the cloud's metadata service names it: "eu-west-1a" on AWS, "1"
	// on Azure, where a machine that is in no zone has none.
	Cloud, Region, Zone string
	// FaultDomain is the rack group that Azure counts from "0" and Oracle Cloud names; empty where the cloud has none or does not tell.
	FaultDomain string
	// ID is the cloud's instance ID, ProviderID what its kubelet reports as spec.providerID.
	ID, ProviderID string
	// Hostname is the metadata service's local_hostname, Address its private IPv4 address.
	Hostname, Address string
	// Type is the instance type, CPUs and MemoryMiB its size.
	Type      string
	CPUs      int
	MemoryMiB int
	// KubeletVersion is baked into the image, with the leading v.
	KubeletVersion string
	// UserData exactly as the cloud was given it, after the cloud's own transport encoding was taken off.
	UserData []byte
	// Managed is set for a machine of a node group that the cloud manages, nil for others.
	Managed *Managed
	// Launched is when the machine was powered on.
	Launched time.Time
}

// MachineHost runs what happens inside machines. A simulated cloud powers machines on and off and does not know what they do.
type MachineHost interface {
	// PowerOn starts a machine. It returns at once; a machine that already runs goes on.
	PowerOn(m Machine)
	// PowerOff stops a machine for good. An unknown ID is no error.
	PowerOff(id string)
	// Console is what the machine has printed so far; empty for an unknown one.
	Console(id string) []byte
}
