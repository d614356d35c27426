package nodes

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/muster-project/muster/sim/nodes/apiclient"
	"github.com/muster-project/muster/sim/nodes/kubeadm"
	"github.com/muster-project/muster/sim/nodes/kubelet"
	"github.com/muster-project/muster/sim/nodes/nodeadm"
)

// nodeadmd is the program of the cloud's own images that joins the cluster.
const nodeadmd = "nodeadm[960]: "

// criSocket of the container runtime where nothing else is said.
const criSocket = "unix:///var/run/containerd/containerd.sock"

// byItself reports whether the machine joins without a configuration: it is of a node group, and its image is the cloud's.
func (g *guest) byItself() bool { return g.Managed != nil && !g.Managed.Own }

// nodeadm joins as the image's own service does, after the user data has run: with what its cloud tells it, and what documents
// for it in the user data add. On an image of the user's own the documents are all that there is.
func (b *booting) nodeadm() {
	documents := b.config.Documents[nodeadm.MediaType]
	if !b.guest.byItself() && len(documents) == 0 {
		return
	}
	settings := &nodeadm.Config{}
	for _, text := range documents {
		next, err := nodeadm.Parse(text)
		if err != nil {
			b.guest.print(nodeadmd, "%v", err)
			return
		}
		settings.Add(next)
	}
	b.nodeadmJoin(settings)
}

// nodeadmJoin joins a managed cluster: the machine is let in for what it is in the cloud, a member of a node group.
func (b *booting) nodeadmJoin(settings *nodeadm.Config) bool {
	if !b.guest.until(kubeadmAt) {
		return false
	}
	m := b.guest.Managed
	switch {
	case m == nil:
		b.guest.print(nodeadmd, "the machine is of no node group: its role is not let into any cluster")
		return false
	case m.Token == "":
		b.guest.print(nodeadmd, "Unauthorized: the role of the machine has no access to the cluster %s", m.Cluster)
		return false
	case settings.Cluster != "" && settings.Cluster != m.Cluster:
		b.guest.print(nodeadmd, "Unauthorized: the role of the machine has no access to the cluster %s", settings.Cluster)
		return false
	}
	access := apiclient.Access{Server: m.Server, CA: m.CA, Token: m.Token}
	if settings.Server != "" {
		access.Server = settings.Server
	}
	if len(settings.CA) > 0 {
		access.CA = settings.CA
	}
	node, err := b.managedNode(settings)
	if err != nil {
		b.guest.print(nodeadmd, "%v", err)
		return false
	}
	b.guest.print(nodeadmd, "Joining the cluster %s at %s", m.Cluster, access.Server)
	own, err := kubeadm.Bootstrap(b.guest.ctx, access, node.Name, kubeadm.DefaultTimeout,
		kubeadm.Host{Print: b.guest.printer(nodeadmd), Dial: b.guest.fleet.options.Dial})
	if err != nil {
		b.guest.print(nodeadmd, "%v", err)
		return false
	}
	b.joined = b.guest.become(own, node)
	b.guest.print(nodeadmd, "The node %s has joined the cluster %s", node.Name, m.Cluster)
	return true
}

// managedNode returns the registration of the machine's Node: the settings of its node group, and its own flags.
func (b *booting) managedNode(settings *nodeadm.Config) (kubelet.Registration, error) {
	host := b.guest.hostname(b.config)
	r := b.guest.hardware(host)
	r.Name, r.CRISocket, r.MaxPods = strings.ToLower(b.guest.shortName()), criSocket, settings.MaxPods
	if !b.guest.Managed.Own {
		r.Labels = maps.Clone(b.guest.Managed.Labels)
		for _, t := range b.guest.Managed.Taints {
			r.Taints = append(r.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
		}
	}
	taints := r.Taints
	if err := b.guest.flags(&r, settings.Flags); err != nil {
		return r, err
	}
	for _, t := range taints {
		if !slices.ContainsFunc(r.Taints, func(o corev1.Taint) bool { return o.MatchTaint(&t) }) {
			r.Taints = append(r.Taints, t)
		}
	}
	return r, nil
}
