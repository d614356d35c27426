package compute

import (
	"regexp"
	"strings"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/fleet"
	"github.com/muster-project/muster/sim/gcp/catalogue"
	"github.com/muster-project/muster/sim/gcp/project"
)

// guest is what an instance learns from its firmware, its image and its metadata server.
func (w *life) guest(m *instance) sim.Machine {
	p := w.properties(m.Content)
	g := sim.Machine{
		Cloud: "gcp", Region: project.RegionOf(m.Zone), Zone: m.Zone, ID: project.Digits(m.ID), ProviderID: providerID(m), Hostname: hostname(m),
		Address: m.Address,
		Type:    m.Type, Launched: m.Running, UserData: userData(w.metadata(m)), KubeletVersion: w.kubelet(m.Project, p),
	}
	if w.NodeOf != nil {
		if managed, version := w.NodeOf(m.Group, m.Template, m.Zone); managed != nil {
			g.Managed, g.KubeletVersion = managed, version
		}
	}
	if t := catalogue.FindMachineType(g.Type); t != nil {
		g.CPUs, g.MemoryMiB = t.CPUs, t.MemoryMB
	}
	return g
}

// hostname is the name that the metadata server gives: that of the internal DNS of the zone.
func hostname(m *instance) string { return m.Name + "." + m.Zone + ".c." + m.Project + ".internal" }

// userData is what cloud-init finds: metadata as it is, or decoded where that says so. What can't be decoded is no user data.
func userData(metadata map[string]string) []byte {
	data := metadata["user-data"]
	if metadata["user-data-encoding"] != "base64" {
		return []byte(data)
	}
	return fleet.UserData(data)
}

// providerID is what a kubelet reports with the cloud provider of Google Cloud.
func providerID(m *instance) string { return "gce://" + m.Project + "/" + m.Zone + "/" + m.Name }

// labels returns the labels of an instance: those of its template, those of its group's configuration, and its own.
func (w *Service) labels(m *instance) map[string]string {
	out := document.Overlaid(document.Pairs(w.properties(m.Content), "labels"), document.Pairs(m.Overrides, "labels"))
	if m.Labels != nil {
		return m.Labels
	}
	return out
}

// metadata returns the metadata of an instance: that of its template, and that of its group's configuration.
func (w *Service) metadata(m *instance) map[string]string {
	out := map[string]string{}
	for _, item := range document.Objects(w.properties(m.Content), "metadata.items") {
		out[document.Text(item, "key")] = document.Text(item, "value")
	}
	return document.Overlaid(out, document.Pairs(m.Overrides, "metadata"))
}

var kubernetesVersion = regexp.MustCompile(`-v(\d+)-(\d+)(-(\d+))?`)

// kubelet returns the version of the kubelet in the image that properties boot, "" for an image without one.
func (w *life) kubelet(id string, p document.Object) string {
	for _, disk := range document.Objects(p, "disks") {
		image := w.Catalogue.Image(id, document.Text(disk, "initializeParams.sourceImage"))
		if image == nil || !document.Truth(disk, "boot") {
			continue
		}
		if v := document.Text(image.Doc, "labels.kubernetes-version"); v != "" {
			return "v" + strings.ReplaceAll(v, "-", ".")
		}
		if m := kubernetesVersion.FindStringSubmatch(project.LastOf(image.Path)); m != nil {
			patch := m[4]
			if patch == "" {
				patch = "0"
			}
			return "v" + m[1] + "." + m[2] + "." + patch
		}
	}
	return ""
}
