package aws

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
)

// tick lets pass what is due by now and returns when something is due next; the zero time means never.
func (r *realm) tick(now time.Time) time.Time {
	r.now = now
	var next time.Time
	for _, i := range r.instances.All() {
		next = earliest(next, r.tickInstance(i))
	}
	if r.clusters.Len() == 0 {
		return earliest(next, r.tickGroups())
	}
	r.tickGroups()
	next = earliest(next, r.tickEKS())
	// What EKS has just asked of its groups and their members has times of its own.
	return earliest(next, r.tickGroups())
}

// tickInstance brings one instance to the present.
func (r *realm) tickInstance(i *instance) time.Time {
	if i.alive() {
		switch {
		case due(i.TakenAt, r.now):
			r.stop(i, bySpotCode, bySpot)
		case due(i.DiesAt, r.now):
			r.stop(i, byFaultCode, byFault)
		}
	}
	if due(i.Next, r.now) {
		r.nextState(i)
	}
	next := i.Next
	if i.alive() {
		for _, at := range []time.Time{i.TakenAt, i.DiesAt, i.ImpairedAt, i.RecommendedAt, i.NoticeAt} {
			if at.After(r.now) {
				next = earliest(next, at)
			}
		}
	}
	return next
}

// due reports a time that is set and has come.
func due(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

func (r *realm) nextState(i *instance) {
	switch i.State {
	case statePending:
		i.State, i.Since, i.Next = stateRunning, r.now, time.Time{}
		r.powerOn = append(r.powerOn, i.ID)
	case stateShuttingDown:
		i.State, i.Since, i.Next = stateTerminated, r.now, r.now.Add(r.life(lifeShown))
	case stateTerminated:
		r.instances.Delete(i.ID)
		return
	}
	r.instances.Touch(i.ID)
}

// power tells the guests what has become of their machines.
func (r *realm) power() {
	on, off := r.powerOn, r.powerOff
	r.powerOn, r.powerOff = nil, nil
	if r.server.host == nil {
		return
	}
	for _, id := range on {
		if i := r.instances.Get(id); i != nil && i.State == stateRunning && !i.NeverBoots {
			r.server.host.PowerOn(r.machine(i))
		}
	}
	for _, id := range off {
		r.server.host.PowerOff(id)
	}
}

// machine is what the instance learns from its firmware, its image and its metadata service.
func (r *realm) machine(i *instance) sim.Machine {
	t := instanceTypes[i.Type]
	m := sim.Machine{
		Cloud: "aws", Region: r.region, Zone: i.Zone, ID: i.ID, ProviderID: "aws:///" + i.Zone + "/" + i.ID,
		Hostname: r.hostname(i), Address: i.Address, Type: i.Type, CPUs: t.cpus, MemoryMiB: t.memoryMiB, Launched: i.Since,
	}
	if image := r.image(i.Image); image != nil {
		m.KubeletVersion = image.KubeletVersion
	}
	// It was checked when it was given; what cannot be decoded is an empty disk, as in life.
	if raw, err := base64.StdEncoding.DecodeString(r.kept(i.Blob)); err == nil {
		m.UserData = raw
	}
	m.Managed = r.nodeOf(i)
	return m
}

// hostname is the private DNS name: by address, or by ID where the launch asks for resource names.
func (r *realm) hostname(i *instance) string {
	name := "ip-" + strings.ReplaceAll(i.Address, ".", "-")
	if o := i.Data.PrivateDnsNameOptions; o != nil && o.HostnameType == "resource-name" {
		name = i.ID
	}
	if r.region == "us-east-1" {
		return name + ".ec2.internal"
	}
	return name + "." + r.region + ".compute.internal"
}
