package compute

import (
	"fmt"
	"net/http"

	"github.com/muster-project/muster/sim/core"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/catalogue"
	"github.com/muster-project/muster/sim/gcp/project"
)

// maxUserData is the largest value of a metadata entry, in bytes.
const maxUserData = 256 << 10

func (w *groups) insertTemplate(x *project.Call) (*project.Answer, error) {
	d, err := catalogue.Body(x, "InstanceTemplate")
	if err != nil {
		return nil, err
	}
	t, err := w.addTemplate(x.Vars["project"], x.Vars["region"], d)
	if err != nil {
		return nil, err
	}
	return w.Begin(x, "compute.instanceTemplates.insert", t.path(), t.ID)
}

// addTemplate creates a template from the body of an insert request: a global one, or one of a region.
func (w *groups) addTemplate(id, region string, d document.Object) (*template, error) {
	name := document.Text(d, "name")
	if err := project.CheckName("resource.name", name); err != nil {
		return nil, err
	}
	t := &template{Project: id, Region: region, Name: name, Description: document.Text(d, "description")}
	if w.templates.Get(t.path()) != nil {
		return nil, project.AlreadyExists(t.path())
	}
	properties := document.Copied(document.Under(d, "properties"))
	if err := w.checkProperties(id, properties); err != nil {
		return nil, err
	}
	fillProperties(properties)
	t.ID, t.Created, t.Content = w.NewID(), w.Now, w.keep(properties)
	w.templates.Put(t.path(), t)
	return t, nil
}

// checkProperties refuses what Compute Engine refuses of a template. Machine types and images are looked up when an instance is created.
func (w *groups) checkProperties(id string, p document.Object) error {
	switch {
	case p == nil:
		return project.Required("resource.properties")
	case document.Text(p, "machineType") == "":
		return project.Required("resource.properties.machineType")
	case len(document.Objects(p, "disks")) == 0:
		return project.Required("resource.properties.disks")
	case len(document.Objects(p, "networkInterfaces")) == 0:
		return project.Required("resource.properties.networkInterfaces")
	}
	if err := project.CheckLabels(document.Under(p, "labels"), "resource.properties.labels"); err != nil {
		return err
	}
	if err := checkMetadata(p); err != nil {
		return err
	}
	if err := checkDisks(id, p); err != nil {
		return err
	}
	for i, n := range document.Objects(p, "networkInterfaces") {
		if err := w.checkInterface(id, fmt.Sprintf("resource.properties.networkInterfaces[%d]", i), n); err != nil {
			return err
		}
	}
	return nil
}

// maxDisk is the largest disk in GB.
const maxDisk = 65536

// checkDisks refuses disks of a size that no disk has, and images whose URL is that of no image.
func checkDisks(id string, p document.Object) error {
	for i, disk := range document.Objects(p, "disks") {
		field := fmt.Sprintf("resource.properties.disks[%d].initializeParams.", i)
		link := document.Text(disk, "initializeParams.sourceImage")
		if link != "" && !project.IsImage(link, id) {
			return project.Invalid(field+"sourceImage", link, "The URL is malformed.")
		}
		if n, given := document.Number(disk, "initializeParams.diskSizeGb"); given && (n < 1 || n > maxDisk) {
			return project.Invalid(field+"diskSizeGb", fmt.Sprint(n), "Values must be within the following range: [1, %d]", maxDisk)
		}
	}
	return nil
}

// checkMetadata refuses metadata whose keys appear twice or whose values are too large.
func checkMetadata(p document.Object) error {
	seen := map[string]bool{}
	for _, item := range document.Objects(p, "metadata.items") {
		key := document.Text(item, "key")
		if key == "" || seen[key] {
			return project.Invalid("resource.properties.metadata", key, "Metadata has duplicate or empty key: %s", key)
		}
		seen[key] = true
		if n := len(document.Text(item, "value")); n > maxUserData {
			return project.Refuse(http.StatusRequestEntityTooLarge, "invalid",
				"Value for metadata key '%s' is too large: maximum size %d character(s); actual size %d.",
				key, maxUserData, n)
		}
	}
	return nil
}

// checkInterface refuses a network interface in a network or a subnetwork that does not exist.
func (w *groups) checkInterface(id, field string, n document.Object) error {
	for _, kind := range []string{"network", "subnetwork"} {
		link := document.Text(n, kind)
		if link == "" {
			continue
		}
		path := project.PathOf(link, id)
		if !w.Catalogue.Has(path) {
			return project.Invalid(field+"."+kind, link, "The referenced %s resource cannot be found.", kind)
		}
		n[kind] = path
	}
	if document.Text(n, "network") == "" && document.Text(n, "subnetwork") == "" {
		n["network"] = project.Global(id, "networks", "default")
	}
	return nil
}

// fillProperties adds what Compute Engine adds to the properties of a template.
func fillProperties(p document.Object) {
	for i, disk := range document.Objects(p, "disks") {
		name := "persistent-disk-" + fmt.Sprint(i)
		document.WithDefaults(disk, document.Object{"kind": "compute#attachedDisk", "index": i, "deviceName": name, "interface": "SCSI",
			"mode": "READ_WRITE", "type": "PERSISTENT"})
	}
	for i, n := range document.Objects(p, "networkInterfaces") {
		document.WithDefaults(n, document.Object{"kind": "compute#networkInterface", "name": "nic" + fmt.Sprint(i)})
		for _, access := range document.Objects(n, "accessConfigs") {
			document.WithDefaults(access, document.Object{"kind": "compute#accessConfig", "networkTier": "PREMIUM"})
		}
	}
	if p["metadata"] == nil {
		p["metadata"] = document.Object{}
	}
	metadata := document.Under(p, "metadata")
	metadata["kind"], metadata["fingerprint"] = "compute#metadata", project.Fingerprint(metadata["items"])
	if tags := document.Under(p, "tags"); tags != nil && len(document.Items(tags, "items")) > 0 {
		tags["fingerprint"] = project.Fingerprint(tags["items"])
	}
	if p["scheduling"] == nil {
		p["scheduling"] = document.Object{}
	}
	fillScheduling(document.Under(p, "scheduling"))
}

// fillScheduling adds the defaults of scheduling. An instance that may be preempted is neither migrated nor restarted.
func fillScheduling(s document.Object) {
	spot := document.Truth(s, "preemptible") || document.Text(s, "provisioningModel") == "SPOT"
	model := "STANDARD"
	maintenance := "MIGRATE"
	if spot {
		model, maintenance = "SPOT", "TERMINATE"
		if document.Truth(s, "preemptible") && document.Text(s, "provisioningModel") == "" {
			model = "STANDARD"
		}
	}
	document.WithDefaults(s, document.Object{"automaticRestart": !spot, "onHostMaintenance": maintenance, "preemptible": spot,
		"provisioningModel": model})
}

func (w *groups) getTemplate(x *project.Call) (*project.Answer, error) {
	t, err := w.template(x)
	if err != nil {
		return nil, err
	}
	return project.OK(w.views.template(x, t)), nil
}

func (w *groups) listTemplates(x *project.Call) (*project.Answer, error) {
	var all []project.Named
	for key, t := range w.templates.All() {
		if t.Project == x.Vars["project"] && t.Region == x.Vars["region"] {
			all = append(all, project.Named{Key: key, Doc: w.views.template(x, t)})
		}
	}
	return w.List(x, "compute#instanceTemplateList", all)
}

// aggregateTemplates lists the templates of all scopes: global ones, and those of regions.
func (w *groups) aggregateTemplates(x *project.Call) (*project.Answer, error) {
	var all []project.Named
	for key, t := range w.templates.All() {
		if t.Project == x.Vars["project"] {
			all = append(all, project.Named{Key: key, Doc: w.views.template(x, t)})
		}
	}
	return catalogue.Scoped(w.Core, x, "compute#instanceTemplateAggregatedList", "instanceTemplates",
		append([]string{"global"}, catalogue.RegionScopes()...), all)
}

func (w *groups) deleteTemplate(x *project.Call) (*project.Answer, error) {
	t, err := w.template(x)
	if err != nil {
		return nil, err
	}
	if err := w.dropTemplate(t); err != nil {
		return nil, err
	}
	return w.Begin(x, "delete", t.path(), t.ID)
}

// dropTemplate deletes a template, and refuses while a group points at it or an instance of a group is of it: the group would need it to
// create that instance again.
func (w *groups) dropTemplate(t *template) error {
	if user := w.userOf(t.path()); user != "" {
		return project.Refuse(http.StatusBadRequest, "resourceInUseByAnotherResource",
			"The instance_template resource '%s' is already being used by '%s'", t.path(), user)
	}
	w.templates.Delete(t.path())
	return nil
}

// userOf returns the path of a group that uses a template, "" for none.
func (w *groups) userOf(path string) string {
	for key, g := range w.managers.All() {
		for _, v := range g.Versions {
			if v.Template == path {
				return key
			}
		}
	}
	for _, m := range w.instances.All() {
		if m.Group != "" && m.Template == path && !m.leaving() {
			return m.Group
		}
	}
	return ""
}

// healedBy returns the path of a group that uses a health check, "" for none.
func healedBy(managers *core.Table[manager], path string) string {
	for key, g := range managers.All() {
		if check, _ := g.healthCheck(); check == path {
			return key
		}
	}
	return ""
}

func (w *groups) template(x *project.Call) (*template, error) {
	path := TemplatePath(x.Vars["project"], x.Vars["region"], x.Vars["instanceTemplate"])
	if t := w.templates.Get(path); t != nil {
		return t, nil
	}
	return nil, project.NotFound(path)
}
