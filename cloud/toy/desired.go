package toy

import (
	"maps"
	"slices"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/fields"
	"github.com/muster-project/muster/cloud/toy/session"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/pool/upgrade"
)

// desired is the pool that the specification asks for, compared with the one that exists.
type desired struct {
	// doc is the pool after the next step.
	doc     *poolDoc
	upgrade upgrade.Step
	// next and launched are the configurations of new nodes after the next step and now.
	next, launched pool.Template
	// ahead is true if the pool has a newer version than the specification asks for.
	ahead bool
	// rolling and drift are the fields that differ and that replace nodes or are changed in place, unchangeable those that can't be changed.
	rolling, drift list
	unchangeable   []string
}

// desire translates the specification.
func (r *reader) desire() (desired, error) {
	read := r.memory.read
	want := desired{doc: r.t.document()}
	asked, valid := upgrade.Parse(r.t.KubernetesVersion)
	if r.t.KubernetesVersion != "" && !valid {
		want.compare(read.pool)
		return want, cloud.Invalidf(rows.SpecOf("version"), "%q is no Kubernetes version of the form v1.36.3", r.t.KubernetesVersion)
	}
	var controlPlane upgrade.Version
	if read.cluster != nil {
		controlPlane = versionOf(read.cluster.Version)
	}
	current := read.pool.version()
	want.upgrade = upgrade.Of(current, asked, controlPlane)
	want.ahead = asked.Known() && current.Known() && asked.Compare(current) < 0
	if want.doc.Version = want.upgrade.Next.String(); want.upgrade.Next == current && read.pool != nil {
		want.doc.Version = read.pool.Version
	}
	want.compare(read.pool)
	return want, nil
}

// compare fills in the differences from the pool that exists.
func (d *desired) compare(is *poolDoc) {
	d.next = templateOf(rows.Rolling(d.doc, d.doc))
	if is == nil {
		return
	}
	d.launched = templateOf(rows.Rolling(d.doc, is))
	d.rolling, d.drift = rows.Differing(d.doc, is, fields.Rolls), rows.Differing(d.doc, is, fields.InPlace)
	d.unchangeable = rows.Differing(d.doc, is, fields.Fixed).Specs()
}

// configurationOf returns the configuration of a node, as far as the specification names it.
func (d *desired) configurationOf(n *nodeDoc) pool.Template {
	return templateOf(rows.Rolling(d.doc, &poolDoc{Version: n.Version, MachineType: n.MachineType, Image: n.Image}))
}

// templateOf returns a configuration as a template, which the cloud makes of the fields of the pool.
func templateOf(values map[string]any) pool.Template {
	if len(values) == 0 {
		return pool.Template{}
	}
	ref := "toy"
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if value, ok := values[name].(string); ok {
			ref += "/" + value
		}
	}
	return pool.Template{Ref: ref, Content: session.ContentOf(values), UserManaged: true, ByCloud: true}
}
