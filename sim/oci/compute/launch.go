package compute

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
	"github.com/muster-project/muster/sim/oci/catalogue"
	"github.com/muster-project/muster/sim/oci/workrequests"
)

// Types of work requests, and of what they are about.
const (
	workLaunch    = "LaunchInstancesInPool"
	workTerminate = "TerminateInstancesInPool"
	workDetach    = "DetachInstanceFromPool"
	workAttach    = "AttachInstanceToPool"
	kindPool      = "instancePool"
)

// failure is why an instance can't be launched, as errors of work requests have it.
type failure struct{ code, message string }

// launcher launches instances of pools.
type launcher struct{ rows *store }

// grow launches the instances that a pool lacks, and returns when it tries again.
func (l *launcher) grow(p *pool) time.Time {
	missing := p.Size - len(l.rows.staying(p))
	switch {
	case missing <= 0:
		return time.Time{}
	case p.Retry.After(l.rows.Now):
		return p.Retry
	}
	w := l.rows.Works.Get(p.Work)
	if w == nil || !w.Running() {
		w = l.rows.Works.Begin(workLaunch, p.text("compartmentId"), kindPool, p.ID)
		p.Work = w.ID
	}
	l.rows.pools.Touch(p.ID)
	for range missing {
		if f := l.launch(p, w); f != nil {
			p.Retry = l.rows.Now.Add(l.rows.Life(lifeRetry))
			l.rows.Works.Note(w, f.code, f.message)
			if core.Due(w.Accepted.Add(l.rows.Life(lifeFails)), l.rows.Now) && !l.rows.Switches.On(KeepsWorkRequests) {
				l.rows.Works.End(w, workrequests.Failed)
			}
			return p.Retry
		}
	}
	p.Retry = time.Time{}
	return time.Time{}
}

// launch launches an instance of a pool, or returns why there is none.
func (l *launcher) launch(p *pool, w *workrequests.Work) *failure {
	c := l.rows.configurations.Get(p.text("instanceConfigurationId"))
	if c == nil {
		return &failure{"NotAuthorizedOrNotFound", "NotAuthorizedOrNotFound: The instance configuration of the pool was not found."}
	}
	details := c.launch()
	shape := document.Text(details, "shape")
	if f := l.unlaunchable(details); f != nil {
		return f
	}
	if message := l.rows.Limits.Exceeded(shape); message != "" {
		return &failure{"ServiceLimit", "LimitExceeded: " + message}
	}
	domains := fleet.SpreadOf(l.rows.staying(p)).Emptiest(p.domains())
	if !l.rows.Switches.On(TriesOtherDomains) {
		domains = domains[:1]
	}
	domain, faults, full := l.rows.instances.Place(domains, shape, p.text("displayName"))
	if full != nil {
		return lacking(full)
	}
	m := l.newInstance(p, c, domain)
	m.Disrupt(faults, m.Spot, l.rows.Now)
	m.NeverBoots = m.NeverBoots || !m.ImpairedAt.IsZero()
	l.rows.instances.Put(m.key(), m)
	l.rows.Works.Relate(w, m.ID)
	return nil
}

// NoCapacity is part of the message for a machine that there is no capacity for.
const NoCapacity = "Out of host capacity"

// lacking returns why there is no instance where a fault refuses it.
func lacking(full *sim.Fault) *failure {
	code, message := cmp.Or(full.Code, "OutOfCapacity"), full.Message
	switch {
	case message == "" && code == "QuotaExceeded":
		message = code + ": The following compartment quotas were exceeded."
	case message == "":
		message = code + ": " + NoCapacity + "."
	}
	return &failure{code, message}
}

// unlaunchable returns why no instance can be launched from some details.
func (l *launcher) unlaunchable(details document.Object) *failure {
	invalid := func(format string, args ...any) *failure {
		return &failure{"InvalidParameter", "InvalidParameter: " + fmt.Sprintf(format, args...)}
	}
	name := document.Text(details, "shape")
	shape, known := catalogue.Shapes[name]
	image := document.Text(details, "sourceDetails.imageId")
	_, arm, exists := l.image(image)
	switch {
	case !known:
		return invalid("Shape %q is not available.", name)
	case details["shapeConfig"] != nil && !shape.Flexible:
		return invalid("Shape %s is no flexible shape.", name)
	case !exists:
		return invalid("Image %q was not found.", image)
	case arm != shape.Arm:
		return invalid("Shape %s is not valid for image %s.", name, image)
	}
	return nil
}

// image returns the version of Kubernetes in an image, and whether it is for Arm processors; known is false for one that does not exist.
func (l *launcher) image(ocid string) (version string, arm, known bool) {
	if version, arm, known = catalogue.ParseImage(ocid); known || l.rows.Images == nil {
		return version, arm, known
	}
	return l.rows.Images(ocid)
}

// newInstance returns an instance of a pool in an availability domain, which is in the fault domain with the fewest others.
func (l *launcher) newInstance(p *pool, c *configuration, domain string) *instance {
	details := c.launch()
	number := l.rows.NextNumber("oci-instance")
	p.Launched++
	m := &instance{Machine: fleet.Machine{Number: number, Zone: domain, Type: document.Text(details, "shape"),
		Spot: document.Under(details, "preemptibleInstanceConfig") != nil}, ID: l.rows.ocid("instance", "pool", number), Pool: p.ID,
		Compartment: p.text("compartmentId"), Configuration: c.ID, Launch: l.rows.launches.Keep(document.Written(details), details),
		Created: l.rows.Now, State: provisioning, Next: l.rows.Now.Add(l.rows.Life(lifeLaunch)), Phase: active,
		Address: fmt.Sprintf("10.%d.%d.%d", number>>16&63, number>>8&255, number&255),
		Tags:    document.Overlaid(document.Pairs(p.Doc, "freeformTags"), document.Pairs(details, "freeformTags"))}
	m.FaultDomain = l.faultDomain(p, domain)
	count := strconv.FormatInt(p.Launched, 10)
	letters := l.rows.Seed.Hex(5, "name", m.ID)
	m.Name = strings.ReplaceAll(cmp.Or(p.text("instanceDisplayNameFormatter"), "inst-"+letters+"-"+p.text("displayName")), launchCount, count)
	m.Host = hostOf(strings.ReplaceAll(cmp.Or(p.text("instanceHostnameFormatter"), m.Name), launchCount, count))
	return m
}

// faultDomain returns the fault domain of a pool in an availability domain that has the fewest instances.
func (l *launcher) faultDomain(p *pool, domain string) string {
	allowed := catalogue.FaultDomains()
	for _, one := range p.placements() {
		if named := document.Texts(one, "faultDomains"); len(named) > 0 && document.Text(one, "availabilityDomain") == domain {
			allowed = named
		}
	}
	spread := fleet.Spread{}
	for _, m := range l.rows.staying(p) {
		if m.Zone == domain {
			spread[m.FaultDomain]++
		}
	}
	return spread.Emptiest(allowed)[0]
}

// notInHosts matches what names of hosts can't have.
var notInHosts = regexp.MustCompile(`[^a-z0-9]+`)

// hostOf returns the name of the host of an instance with a name.
func hostOf(name string) string {
	const most = 63
	host := strings.Trim(notInHosts.ReplaceAllString(strings.ToLower(name), "-"), "-")
	return strings.TrimRight(host[:min(len(host), most)], "-")
}

// guest holds the data that an instance reads from its firmware, its image and its metadata service.
func (l *launcher) guest(m *instance) sim.Machine {
	details := l.rows.launches.Kept(m.Launch)
	version, _, _ := l.image(document.Text(details, "sourceDetails.imageId"))
	_, zone, _ := strings.Cut(m.Zone, ":")
	out := sim.Machine{Cloud: "oci", Region: l.rows.Region, Zone: zone, FaultDomain: m.FaultDomain, ID: m.ID, ProviderID: providerID(m),
		Hostname: m.Host, Address: m.Address, Type: m.Type, KubeletVersion: "v" + version, Launched: m.Booted,
		UserData: fleet.UserData(document.Text(details, "metadata.user_data"))}
	ocpus, _ := document.Number(details, "shapeConfig.ocpus")
	memory, _ := document.Number(details, "shapeConfig.memoryInGBs")
	out.CPUs, out.MemoryMiB = catalogue.Size(m.Type, ocpus, memory)
	return out
}

// providerID returns the ID that the cloud controller manager writes into the Node of an instance.
func providerID(m *instance) string { return "oci://" + m.ID }

// sweep forgets what instances were launched from that are gone.
func (l *launcher) sweep() {
	used := map[string]bool{}
	for _, m := range l.rows.instances.All() {
		used[m.Launch] = true
	}
	l.rows.launches.Sweep(used)
}
