package nodes

import (
	"crypto/x509"
	"encoding/pem"
	"regexp"
	"strings"
	"time"

	"github.com/muster-project/muster/sim/nodes/apiclient"
	"github.com/muster-project/muster/sim/nodes/cloudinit"
	"github.com/muster-project/muster/sim/nodes/ignition"
	"github.com/muster-project/muster/sim/nodes/kubeadm"
	"github.com/muster-project/muster/sim/nodes/kubelet"
	"github.com/muster-project/muster/sim/nodes/nodeadm"
)

// boot is a machine's first boot. It is false when the machine does not become a node; the console says why.
func (g *guest) boot() (joined, bool) {
	if !g.until(kernelAt) {
		return joined{}, false
	}
	g.print(kernel, "Linux version 6.8.0-1021-simulated (%s) #23-Ubuntu SMP", unameArch(g.arch()))
	g.print(kernel, "DMI: simulated %s %s/%s", g.Cloud, g.Type, g.ID)
	if !g.until(localAt) {
		return joined{}, false
	}
	g.print(initd, "Cloud-init v. 24.4 running 'init-local': %s in %s, address %s, hostname %s", g.ID, g.place(), g.Address, g.Hostname)
	if !g.until(configAt) {
		return joined{}, false
	}
	if ignition.Is(g.UserData) {
		return g.igniteBoot()
	}
	config, ok := g.readUserData()
	if !ok {
		return joined{}, false
	}
	b := &booting{guest: g, config: config, files: files{}}
	g.runAll("bootcmd", config.BootCommands, nil)
	g.writeFiles(config.Files, b.files)
	if !g.until(commandsAt) {
		return joined{}, false
	}
	g.print(scripts, "Cloud-init v. 24.4 running 'modules:final'")
	g.runAll("runcmd", config.Commands, b.call)
	for _, line := range config.Scripts {
		b.call(line)
	}
	g.print(scripts, "Cloud-init v. 24.4 finished. Datasource %s", strings.ToUpper(g.Cloud))
	if b.joined == nil {
		b.nodeadm()
	}
	if b.joined == nil {
		g.print(systemd, "%s login: (the machine runs and has not joined a cluster)", g.hostname(config))
		return joined{}, false
	}
	return *b.joined, true
}

// booting is a first boot that is under way.
type booting struct {
	guest  *guest
	config *cloudinit.Config
	files  files
	// joined is the node that the machine has become.
	joined *joined
}

// call carries out what a shell line calls, if that joins a cluster. It is false where that was tried and failed.
func (b *booting) call(line string) bool {
	if c := nodeadm.FindBootstrap(line); c != nil {
		return b.nodeadmJoin(c)
	}
	c := kubeadm.FindCommand(line)
	if c == nil {
		return true
	}
	j, ok := b.guest.join(c, b.config, b.files)
	if ok {
		b.joined = j
	}
	return ok
}

// readUserData parses the user data and prints what is in it.
func (g *guest) readUserData() (*cloudinit.Config, bool) {
	if len(g.UserData) == 0 && g.byItself() {
		return &cloudinit.Config{}, true
	}
	facts := cloudinit.Instance{ID: g.ID, Type: g.Type, Hostname: g.Hostname, Address: g.Address, Cloud: g.Cloud, Region: g.Region,
		Zone:        g.Zone,
		FaultDomain: g.FaultDomain, Arch: unameArch(g.arch())}
	g.print(initd, "Cloud-init v. 24.4 running 'init': user data of %d bytes", len(g.UserData))
	c, err := cloudinit.Parse(g.UserData, facts.Metadata(), g.included())
	if err != nil {
		g.print(initd, "WARNING: %v", err)
		g.print(systemd, "%s login: (the machine runs and has not joined a cluster)", g.Hostname)
		return nil, false
	}
	for _, n := range c.Notes {
		g.print(initd, "%s", n)
	}
	for _, w := range c.Warnings {
		g.print(initd, "WARNING: %s", w)
	}
	return c, true
}

// files holds the files that cloud-init has written, by path. They live as long as the boot.
type files map[string][]byte

func (f files) read(path string) ([]byte, bool) {
	b, ok := f[path]
	return b, ok
}

func (g *guest) writeFiles(entries []cloudinit.File, f files) {
	for _, e := range entries {
		if e.Append {
			f[e.Path] = append(append([]byte(nil), f[e.Path]...), e.Content...)
		} else {
			f[e.Path] = e.Content
		}
		g.print(initd, "write_files: %s (%d bytes, %s, %s)", e.Path, len(f[e.Path]), e.Permissions, e.Owner)
	}
}

// runAll records commands on the console and passes each to call, which reports whether it succeeded.
func (g *guest) runAll(module string, lines []string, call func(line string) bool) {
	for _, line := range lines {
		if g.ctx.Err() != nil {
			return
		}
		g.print(scripts, "%s: + %s", module, line)
		if call != nil && !call(line) {
			g.print(scripts, "%s: exit status 1", module)
		}
	}
}

// join carries out one call of kubeadm.
func (g *guest) join(c *kubeadm.Command, config *cloudinit.Config, f files) (*joined, bool) {
	if !g.until(kubeadmAt) {
		return nil, false
	}
	spec, err := c.Join(f.read)
	if err != nil {
		return nil, g.failed("", err)
	}
	node, err := g.registration(spec, config)
	if err != nil {
		return nil, g.failed("", err)
	}
	m := kubeadm.Host{Print: func(format string, args ...any) { g.print(scripts, ""+format, args...) }, Read: f.read,
		Dial: g.fleet.options.Dial}
	m.Print("[preflight] Running pre-flight checks")
	access, err := kubeadm.Discover(g.ctx, spec, m)
	if err != nil {
		return nil, g.failed("phase preflight: ", err)
	}
	m.Print("[preflight] Reading configuration from the \"kubeadm-config\" ConfigMap in namespace \"kube-system\"...")
	if err := kubeadm.Preflight(g.ctx, access, node.Name, spec.APITimeout, m); err != nil {
		return nil, g.failed("phase preflight: ", err)
	}
	m.Print("[kubelet-start] Starting the kubelet\n[kubelet-start] Waiting for the kubelet to perform the TLS Bootstrap")
	own, err := kubeadm.Bootstrap(g.ctx, access, node.Name, spec.BootstrapTimeout, m)
	if err != nil {
		return nil, g.failed("phase kubelet-start: ", err)
	}
	j := g.become(own, node)
	m.Print("\nThis node has joined the cluster:\n* Certificate signing request was sent to apiserver and a response was received.\n* The " +
		"Kubelet was informed of the new secure connection details.\n")
	return j, true
}

// become keeps what the machine needs to be that node from now on.
func (g *guest) become(own apiclient.Access, node kubelet.Registration) *joined {
	j := &joined{Server: own.Server, CA: own.CA, Insecure: own.Insecure, Cert: own.Cert, Key: own.Key, Node: node}
	if err := g.disk.join(*j); err != nil {
		g.print(kubeletd, "WARNING: the node's certificate is not kept: %v", err)
	}
	return j
}

// failed prints an error as kubeadm does.
func (g *guest) failed(phase string, err error) bool {
	if phase != "" {
		phase = "error execution " + phase
	}
	g.print(scripts, "%s%v\nTo see the stack trace of this error execute with --v=5 or higher", phase, err)
	return false
}

// nodeName is a name that an API server takes.
var nodeName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// maxNodeName is the API server's bound on names.
const maxNodeName = 253

// registration returns the registration of the machine's Node.
func (g *guest) registration(spec *kubeadm.Join, config *cloudinit.Config) (kubelet.Registration, error) {
	host := g.hostname(config)
	r := g.hardware(host)
	r.Name, r.CRISocket, r.Taints = strings.ToLower(strings.TrimSpace(spec.NodeName)), spec.CRISocket, spec.Taints
	if r.Name == "" {
		r.Name = strings.ToLower(host)
	}
	if r.CRISocket == "" {
		r.CRISocket = criSocket
	}
	if err := g.flags(&r, spec.KubeletArgs); err != nil {
		return r, err
	}
	if p := spec.KubeletArgs["cloud-provider"]; p != "" && p != "external" {
		g.print(kubeletd, "--cloud-provider=%s: played by the simulated machine; newer kubelets know only external", p)
	}
	return r, nil
}

// hardware returns the part of the registration that depends on the machine alone.
func (g *guest) hardware(host string) kubelet.Registration {
	return kubelet.Registration{
		ProviderID: g.ProviderID, Zone: g.topology(), Region: g.Region, Type: g.Type, Hostname: host, Address: g.Address,
		Arch: g.arch(), Version: g.KubeletVersion, CPUs: g.CPUs, MemoryMiB: g.MemoryMiB,
	}
}

// flags applies the kubelet's flags, which override everything else.
func (g *guest) flags(r *kubelet.Registration, flags map[string]string) error {
	if err := r.SetFlags(flags); err != nil {
		return err
	}
	if len(r.Name) > maxNodeName || !nodeName.MatchString(r.Name) {
		return &invalidName{r.Name}
	}
	return nil
}

type invalidName struct{ name string }

// Error returns the message of kubeadm's validation.
func (e *invalidName) Error() string {
	return "nodeRegistration.name: Invalid value: \"" + e.name +
		"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an " +
		"alphanumeric character"
}

func (g *guest) hostname(config *cloudinit.Config) string {
	if config.Hostname != "" {
		return config.Hostname
	}
	return g.shortName()
}

// shortName returns the machine's default host name. On Google Cloud it is the first part of the name in the metadata server.
func (g *guest) shortName() string {
	if g.Cloud != google {
		return g.Hostname
	}
	name, _, _ := strings.Cut(g.Hostname, ".")
	return name
}

// topology is the zone that the cloud's controller manager labels a Node with. On Azure that is the zone with its location, and
// the fault domain for a machine that is in no zone.
func (g *guest) topology() string {
	switch {
	case g.Cloud != azure:
		return g.Zone
	case g.Zone != "":
		return strings.ToLower(g.Region) + "-" + g.Zone
	default:
		return g.FaultDomain
	}
}

// place returns the machine's location, for its console.
func (g *guest) place() string {
	if zone := g.topology(); zone != "" && zone != g.FaultDomain {
		return zone
	}
	return g.Region
}

// azure and google are the names of two clouds.
const (
	azure  = "azure"
	google = "gcp"
)

// arm finds, by cloud, the machine types with Arm processors: on AWS a letter g among the attributes behind the generation, and
// a1; on Azure a letter p there; on Google Cloud, Scaleway and Oracle Cloud some series.
var arm = map[string]*regexp.Regexp{
	"aws":      regexp.MustCompile(`^(a1|[a-z]+[0-9]+[a-fh-z]*g[a-z]*)\.`),
	google:     regexp.MustCompile(`^(t2a|c4a|n4a|a4x)-`),
	azure:      regexp.MustCompile(`^Standard_[A-Z]+[0-9]+(-[0-9]+)?[a-oq-z]*p[a-z]*_v[0-9]+$`),
	"scaleway": regexp.MustCompile(`^COPARM1-`),
	"oci":      regexp.MustCompile(`^(VM|BM)\.Standard\.A[0-9]+\.`),
}

// arch is the machine's architecture as Go names it.
func (g *guest) arch() string {
	if types := arm[g.Cloud]; types != nil && types.MatchString(g.Type) {
		return "arm64"
	}
	return "amd64"
}

// unameArch is an architecture as Linux names it.
func unameArch(goarch string) string {
	if goarch == "arm64" {
		return "aarch64"
	}
	return "x86_64"
}

// certificateIsValid reports whether a stored certificate can still be used; a machine whose certificate has expired has to join again.
func certificateIsValid(cert []byte, now time.Time) bool {
	block, _ := pem.Decode(cert)
	if block == nil {
		return false
	}
	c, err := x509.ParseCertificate(block.Bytes)
	return err == nil && now.Before(c.NotAfter)
}
