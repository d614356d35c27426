package container

import (
	"maps"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/compute"
	"github.com/muster-project/muster/sim/gcp/project"
)

// groupSuffix is the suffix of the names of instance groups.
const groupSuffix = "-grp"

// imageProject is the project of GKE's node images.
const imageProject = "gke-node-images"

// groupPath is the path of an instance group of a node pool.
func groupPath(c *Cluster, g *group) string {
	return project.Zonal(c.Project, g.Zone, "instanceGroupManagers", g.Name)
}

// namesLength is the maximum length of the names of a cluster and of a node pool together in those of groups and templates. If both are
// longer than half of it, each is cut to half of it.
const namesLength = 32

// baseName returns the prefix of the names of a node pool's groups and templates.
func baseName(c *Cluster, p *Pool) string {
	ofPool := min(len(p.Name), max(namesLength/2, namesLength-len(c.Name)))
	ofCluster := min(len(c.Name), namesLength-ofPool)
	return "gke-" + c.Name[:ofCluster] + "-" + p.Name[:ofPool]
}

// groupName returns the name of a new group of a node pool.
func (w *models) groupName(c *Cluster, p *Pool, zone string) string {
	return baseName(c, p) + "-" + w.core.Seed.Hex(8, c.ID, p.Name, zone, w.core.NextNumber("gke-group")) + groupSuffix
}

// put gives the groups of a node pool what machines are created from that come from now on. The old groups of a blue-green upgrade keep
// what they have. The error is Compute Engine's.
func (w *models) put(c *Cluster, p *Pool) error {
	path, err := w.template(c, p)
	if err != nil {
		return err
	}
	for _, g := range p.Groups {
		if p.Roll != nil && p.Roll.Blue != nil && g.Green == p.Roll.Back {
			continue
		}
		size := 0
		if g.Want != nil {
			size = *g.Want
		}
		if err := w.groups.putGroup(c, g, path, size); err != nil {
			return err
		}
	}
	return nil
}

// template returns the path of the instance template of what a node pool is now, and creates it where there is none.
func (w *models) template(c *Cluster, p *Pool) (string, error) {
	name := baseName(c, p) + "-" + w.core.Seed.Hex(8, c.ID, p.Name, "template", p.Number, p.Revision)
	region, _ := placeOf(c.Location)
	if w.core.Switches.On(GlobalTemplates) {
		region = ""
	}
	path := compute.TemplatePath(c.Project, region, name)
	if _, exists := p.Templates[path]; exists {
		return path, nil
	}
	if _, err := w.groups.PutTemplate(c.Project, region, document.Object{"name": name, "properties": w.properties(c, p)}); err != nil {
		return "", err
	}
	if p.Templates == nil {
		p.Templates = map[string]made{}
	}
	p.Templates[path] = made{p.Generation, p.Wanted, w.machineOf(c, p)}
	return path, nil
}

// machineOf identifies the properties in which a new machine of the node pool differs from others.
func (w *models) machineOf(c *Cluster, p *Pool) string {
	of := w.properties(c, p)
	return document.Written([]any{of["machineType"], of["disks"], document.Under(p.Doc, "config.linuxNodeConfig")})
}

// prune forgets the templates that no machine was created from any more, and deletes them.
func (w *models) prune(c *Cluster, p *Pool) {
	used := map[string]bool{}
	for _, g := range p.Groups {
		for _, m := range w.groups.Members(groupPath(c, g)) {
			used[m.Template] = true
		}
	}
	for path, m := range p.Templates {
		if !used[path] && m.Generation != p.Generation && w.groups.DropTemplate(path) == nil {
			delete(p.Templates, path)
		}
	}
}

// properties are those of the instance template of a node pool.
func (w *models) properties(c *Cluster, p *Pool) document.Object {
	config := document.Under(p.Doc, "config")
	labels := document.Overlaid(document.Pairs(config, "resourceLabels"), map[string]string{
		"goog-gke-node": "", "goog-k8s-cluster-name": c.Name, "goog-k8s-cluster-location": c.Location, "goog-k8s-node-pool-name": p.Name,
	})
	metadata := document.Overlaid(document.Pairs(config, "metadata"), map[string]string{
		"cluster-name": c.Name, "cluster-location": c.Location, "cluster-uid": c.ID, "google-compute-enable-pcid": "true",
		"kube-labels": joined(w.labels(p)),
	})
	image := w.image(p)
	disk := document.Object{"diskSizeGb": document.Text(config, "bootDisk.sizeGb"), "diskType": config["diskType"],
		"sourceImage": "projects/" + imageProject + "/global/images/" + image}
	d := document.Object{
		"machineType": config["machineType"], "labels": document.OfStrings(labels), "metadata": document.Object{"items": items(metadata)},
		"disks": []any{document.Object{"boot": true, "autoDelete": true, "type": "PERSISTENT", "mode": "READ_WRITE", "initializeParams": disk}},
		"networkInterfaces": []any{document.Object{"network": document.Text(c.Doc, "networkConfig.network"),
			"subnetwork": document.Text(p.Doc, "networkConfig.subnetwork")}},
		"serviceAccounts": []any{document.Object{"email": config["serviceAccount"], "scopes": config["oauthScopes"]}},
		"tags":            document.Object{"items": append([]any{"gke-" + c.Name + "-" + c.Hash + "-node"}, document.Items(config, "tags")...)},
		"canIpForward":    true, "scheduling": scheduling(config),
	}
	return d
}

// scheduling is whether Compute Engine may take the machines back.
func scheduling(config document.Object) document.Object {
	switch {
	case document.Truth(config, "spot"):
		return document.Object{"provisioningModel": "SPOT", "preemptible": true, "automaticRestart": false, "instanceTerminationAction": "DELETE",
			"onHostMaintenance": "TERMINATE"}
	case document.Truth(config, "preemptible"):
		return document.Object{"preemptible": true, "automaticRestart": false, "onHostMaintenance": "TERMINATE"}
	}
	return document.Object{"automaticRestart": true, "onHostMaintenance": "MIGRATE", "provisioningModel": "STANDARD"}
}

// cosRelease and ubuntuRelease are the releases of the images' systems.
const (
	cosRelease    = "cos-113-17681-1153-62-c-pre"
	ubuntuRelease = "ubuntu-2204-1-31-v20260901"
)

// image returns the name of the image of the nodes that a node pool is to have, and publishes it.
func (w *models) image(p *Pool) string {
	name, arch := imageName(p, p.Wanted), "X86_64"
	if armed(p) {
		arch = "ARM64"
	}
	w.compute.Catalogue.PutImage(imageProject, name, "", arch)
	return name
}

// imageName is the name of the image of a node pool's nodes of a version.
func imageName(p *Pool, version string) string {
	release := cosRelease
	if strings.HasPrefix(document.Text(p.Doc, "config.imageType"), "UBUNTU") {
		release = ubuntuRelease
	}
	if armed(p) {
		release += "-arm64"
	}
	kubernetes, build, _ := strings.Cut(version, "-gke.")
	return "gke-" + strings.ReplaceAll(kubernetes, ".", "") + "-gke" + build + "-" + release
}

// armed reports whether the nodes of a node pool have processors of Arm.
func armed(p *Pool) bool {
	machine := document.Text(p.Doc, "config.machineType")
	return strings.HasPrefix(machine, "t2a-") || strings.HasPrefix(machine, "c4a-")
}

// items are pairs as metadata holds them.
func items(pairs map[string]string) []any {
	var out []any
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		out = append(out, document.Object{"key": key, "value": pairs[key]})
	}
	return out
}

// joined writes labels as kubelet's flag has them.
func joined(labels map[string]string) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, key+"="+labels[key])
	}
	return strings.Join(out, ",")
}

// labels are those that a node registers with: GKE's own, and the pool's.
func (w *models) labels(p *Pool) map[string]string {
	config := document.Under(p.Doc, "config")
	machine := document.Text(config, "machineType")
	system := "cos"
	if strings.HasPrefix(document.Text(config, "imageType"), "UBUNTU") {
		system = "ubuntu"
	}
	out := map[string]string{
		"cloud.google.com/gke-nodepool": p.Name, "cloud.google.com/gke-os-distribution": system,
		"cloud.google.com/gke-container-runtime": "containerd",
		"cloud.google.com/gke-boot-disk":         document.Text(config, "diskType"),
		"cloud.google.com/machine-family":        strings.SplitN(machine, "-", 2)[0],
		"cloud.google.com/gke-max-pods-per-node": document.Text(p.Doc, "maxPodsConstraint.maxPodsPerNode"),
		"cloud.google.com/gke-provisioning":      "standard", "cloud.google.com/gke-stack-type": "IPV4", "cloud.google.com/private-node": "false",
		"cloud.google.com/gke-logging-variant": "DEFAULT",
	}
	switch {
	case document.Truth(config, "spot"):
		out["cloud.google.com/gke-provisioning"], out["cloud.google.com/gke-spot"] = "spot", "true"
	case document.Truth(config, "preemptible"):
		out["cloud.google.com/gke-provisioning"], out["cloud.google.com/gke-preemptible"] = "preemptible", "true"
	}
	maps.Copy(out, document.Pairs(config, "labels"))
	return out
}
