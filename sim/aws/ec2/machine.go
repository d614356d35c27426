package ec2

import (
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws/catalogue"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/fleet"
)

// Tick brings all instances to the present and returns when something is due next; the zero time means never.
func (r *Instances) Tick() time.Time {
	var next time.Time
	for _, i := range r.Rows.All() {
		next = core.Earliest(next, r.tickInstance(i))
	}
	return next
}

// tickInstance brings one instance to the present.
func (r *Instances) tickInstance(i *Instance) time.Time {
	if i.Alive() {
		switch {
		case core.Due(i.takenAt(), r.Now):
			r.Stop(i, bySpotCode, bySpot)
		case core.Due(i.StopsAt, r.Now):
			r.Stop(i, ByFaultCode, ByFault)
		}
	}
	if core.Due(i.Next, r.Now) {
		r.nextState(i)
	}
	next := i.Next
	if i.Alive() {
		for _, at := range []time.Time{i.takenAt(), i.StopsAt, i.ImpairedAt, i.RecommendedAt, i.ReclaimAt} {
			if at.After(r.Now) {
				next = core.Earliest(next, at)
			}
		}
	}
	return next
}

func (r *Instances) nextState(i *Instance) {
	switch i.State {
	case statePending:
		i.State, i.Since, i.Next = StateRunning, r.Now, time.Time{}
		r.Rows.PowerOn(i.ID)
	case StateShuttingDown:
		i.State, i.Since, i.Next = StateTerminated, r.Now, r.Now.Add(r.Life(lifeShown))
	case StateTerminated:
		r.Rows.Delete(i.ID)
		return
	}
	r.Rows.Touch(i.ID)
}

// machine returns what the instance reads from its firmware, its image and its metadata service.
func (r *Instances) machine(i *Instance) sim.Machine {
	t := catalogue.InstanceTypes[i.Type]
	m := sim.Machine{
		Cloud: "aws", Region: r.Region, Zone: i.Zone, ID: i.ID, ProviderID: "aws:///" + i.Zone + "/" + i.ID,
		Hostname: r.Hostname(i), Address: i.Address, Type: i.Type, CPUs: t.CPUs, MemoryMiB: t.MemoryMiB, Launched: i.Since,
	}
	if image := r.Images.image(i.Image); image != nil {
		m.KubeletVersion = image.KubeletVersion
	}
	m.UserData, m.Managed = fleet.UserData(r.Templates.UserData.Kept(i.Blob)), r.Managed(i)
	return m
}

// Hostname is the private DNS name: by address, or by ID where the launch asks for resource names.
func (r *Instances) Hostname(i *Instance) string {
	name := "ip-" + strings.ReplaceAll(i.Address, ".", "-")
	if o := i.Data.PrivateDnsNameOptions; o != nil && o.HostnameType == "resource-name" {
		name = i.ID
	}
	if r.Region == "us-east-1" {
		return name + ".ec2.internal"
	}
	return name + "." + r.Region + ".compute.internal"
}
