package gather

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/view/doctor"
)

const (
	// managerName is the Deployment's, in every way of installing; leaseName that of its leader election.
	managerName = "muster-controller-manager"
	leaseName   = "controller-leader-election-muster"
)

// managers reads the Deployments with the label of a provider, and Muster's by its name.
func (g *gatherer) managers(ctx context.Context) error {
	var list appsv1.DeploymentList
	if err := g.Client.List(ctx, &list); err != nil {
		return fmt.Errorf("list the Deployments: %w", err)
	}
	for i := range list.Items {
		d := &list.Items[i]
		provider := d.Labels[clusterv1.ProviderNameLabel]
		if d.Name == managerName {
			provider = doctor.MusterProvider
		}
		if provider != "" {
			g.found.Managers = append(g.found.Managers, managerOf(d, provider))
		}
	}
	slices.SortFunc(g.found.Managers, func(a, b doctor.Manager) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	m := g.muster()
	if m == nil {
		return nil
	}
	lease := &coordinationv1.Lease{}
	err := g.Client.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: leaseName}, lease)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read the lease %s/%s: %w", m.Namespace, leaseName, err)
	}
	if err == nil {
		g.found.Lease = leaseOf(lease)
	}
	return nil
}

func leaseOf(l *coordinationv1.Lease) *doctor.Lease {
	is := &doctor.Lease{Holder: ptr.Deref(l.Spec.HolderIdentity, ""), Duration: time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds,
		0)) * time.Second}
	if l.Spec.RenewTime != nil {
		is.Renewed = l.Spec.RenewTime.Time
	}
	return is
}

// managerOf reads the flags of a Deployment from its containers' arguments.
func managerOf(d *appsv1.Deployment, provider string) doctor.Manager {
	m := doctor.Manager{Provider: provider, Namespace: d.Namespace, Name: d.Name, Desired: ptr.Deref(d.Spec.Replicas, 1),
		Ready: d.Status.ReadyReplicas}
	for _, c := range d.Spec.Template.Spec.Containers {
		if m.Version == "" || c.Name == "manager" {
			m.Version = tag(c.Image)
		}
		for _, arg := range slices.Concat(c.Command, c.Args) {
			m = withFlag(m, arg)
		}
	}
	return m
}

// withFlag returns the manager with what one argument sets.
func withFlag(m doctor.Manager, arg string) doctor.Manager {
	name, value, ok := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	if !ok || !strings.HasPrefix(arg, "-") {
		return m
	}
	switch name {
	case "feature-gates":
		m.Gates = gatesOf(value)
	case "controllers":
		m.Controllers = strings.Split(value, ",")
	case "namespace":
		m.Watches = value
	case identity.OwnFlag:
		m.CredentialsNamespaces = strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
	case identity.EndpointsFlag:
		m.IdentityEndpoints = strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
	case identity.OwnSelectorFlag:
		m.CredentialsSelector = value
	}
	return m
}

func gatesOf(value string) map[string]bool {
	gates := map[string]bool{}
	for _, one := range strings.Split(value, ",") {
		name, state, _ := strings.Cut(one, "=")
		if on, err := strconv.ParseBool(state); err == nil {
			gates[strings.TrimSpace(name)] = on
		}
	}
	return gates
}

// tag returns the tag of an image, or its digest.
func tag(image string) string {
	rest := image[strings.LastIndex(image, "/")+1:]
	if _, digest, ok := strings.Cut(rest, "@"); ok {
		return digest
	}
	if _, is, ok := strings.Cut(rest, ":"); ok {
		return is
	}
	return "latest"
}
