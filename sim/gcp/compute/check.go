package compute

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
)

// outputOnly are fields of a group that only the service sets, or that have fields of their own in the row.
var outputOnly = []string{
	"currentActions", "creationTimestamp", "fingerprint", "id", "instanceGroup", "kind", "region", "satisfiesPzi", "satisfiesPzs", "selfLink",
	"status",
	"zone", "name", "targetSize", "versions", "instanceTemplate", "allInstancesConfig", "serviceAccount",
}

// accept takes over what a request sets, for a group that is created or changed.
func (w *groups) accept(g *manager, d document.Object) error {
	if err := w.acceptVersions(g, d); err != nil {
		return err
	}
	if err := w.acceptConfig(g, d); err != nil {
		return err
	}
	created := g.ID == 0
	zones := zonesIn(g.Doc)
	patch := document.Object{}
	for k, v := range d {
		if !slices.Contains(outputOnly, k) {
			patch[k] = v
		}
	}
	document.Merge(g.Doc, patch)
	if asked := zonesIn(g.Doc); !created && !slices.Equal(sorted(zones), sorted(asked)) {
		return project.Invalid("resource.distributionPolicy.zones", strings.Join(asked, ","),
			"The zones of a regional managed instance group cannot be changed.")
	}
	return w.check(g)
}

// acceptVersions takes over the templates of a request: versions, or the one template of them all.
func (w *groups) acceptVersions(g *manager, d document.Object) error {
	given := document.Objects(d, "versions")
	field := "resource.versions[%d].instanceTemplate"
	if len(given) == 0 {
		link := document.Text(d, "instanceTemplate")
		if link == "" {
			return nil
		}
		given, field = []document.Object{{"instanceTemplate": link}}, "resource.instanceTemplate%.0d"
	}
	var versions []version
	open := 0
	for i, v := range given {
		path, err := w.checkTemplate(fmt.Sprintf(field, i), document.Text(v, "instanceTemplate"), g)
		if err != nil {
			return err
		}
		size := sizeOf(v)
		if size == nil {
			open++
		}
		fixed, _ := document.Number(size, "fixed")
		percent, _ := document.Number(size, "percent")
		if err := checkRange(fmt.Sprintf("resource.versions[%d].targetSize", i), fixed, percent); err != nil {
			return err
		}
		versions = append(versions, version{Name: document.Text(v, "name"), Template: path, Size: size})
	}
	if open != 1 {
		return project.Refuse(400, "invalid", "Invalid value for field 'resource.versions': Exactly one version must leave targetSize unset.")
	}
	g.Versions = versions
	return nil
}

// sizeOf returns the target size of a version as it was set, nil where it was not.
func sizeOf(v document.Object) document.Object {
	out := document.Object{}
	for _, k := range []string{"fixed", "percent"} {
		if n, ok := document.Number(v, "targetSize."+k); ok {
			out[k] = float64(n)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// checkTemplate returns the path of a template that a group can be made of, and refuses what is none: a template of a region serves groups
// in that region alone.
func (w *groups) checkTemplate(field, link string, g *manager) (string, error) {
	path := project.PathOf(link, g.Project)
	switch {
	case link == "":
		return "", project.Required(field)
	case !strings.Contains(path, "/instanceTemplates/"):
		return "", project.Invalid(field, link, "The URL is malformed.")
	case w.templates.Get(path) == nil:
		return "", project.NotFound(path)
	}
	if region := w.templates.Get(path).Region; region != "" && region != cmp.Or(g.Region, project.RegionOf(g.Zone)) {
		return "", project.Invalid(field, link, "The instance template is in region %s and cannot be used in another.", region)
	}
	return path, nil
}

// acceptConfig takes over allInstancesConfig, and notes its revision when it has changed.
func (w *groups) acceptConfig(g *manager, d document.Object) error {
	given, there := d["allInstancesConfig"]
	if !there {
		return nil
	}
	config := document.Copied(g.Config)
	if config == nil {
		config = document.Object{}
	}
	patch, isObject := given.(document.Object)
	switch {
	case !isObject:
		config = document.Object{}
	case patch["properties"] == nil:
		if _, cleared := patch["properties"]; cleared {
			config = document.Object{}
		}
	default:
		document.Merge(config, document.Under(patch, "properties"))
	}
	if err := project.CheckLabels(document.Under(config, "labels"), "resource.allInstancesConfig.properties.labels"); err != nil {
		return err
	}
	if document.Written(config) != document.Written(g.Config) {
		g.Config, g.Revision = config, w.Now
	}
	return nil
}

// check refuses a group that Compute Engine would refuse.
func (w *groups) check(g *manager) error {
	if document.Text(g.Doc, "baseInstanceName") == "" {
		g.Doc["baseInstanceName"] = g.Name[:min(len(g.Name), maxBase)]
	}
	if base := document.Text(g.Doc, "baseInstanceName"); len(base) > maxBase {
		return project.Invalid("resource.baseInstanceName", base, "Must be at most %d characters long.", maxBase)
	}
	for i, policy := range document.Objects(g.Doc, "autoHealingPolicies") {
		if err := w.checkHealing(g, i, policy); err != nil {
			return err
		}
	}
	if err := checkZones(g); err != nil {
		return err
	}
	return checkPolicy(g)
}

// maxBase is the largest length of a base name.
const maxBase = 58

// checkHealing refuses an autohealing policy whose health check does not exist, and keeps the check's path.
func (w *groups) checkHealing(g *manager, i int, policy document.Object) error {
	field := fmt.Sprintf("resource.autoHealingPolicies[%d]", i)
	if i > 0 {
		return project.Invalid("resource.autoHealingPolicies", "", "At most one policy can be specified.")
	}
	if delay, given := document.Number(policy, "initialDelaySec"); given && (delay < 0 || delay > 3600) {
		return project.Invalid(field+".initialDelaySec", fmt.Sprint(delay), "Values must be within the following range: [0, 3600]")
	}
	link := document.Text(policy, "healthCheck")
	if link == "" {
		return nil
	}
	path := project.PathOf(link, g.Project)
	if !w.Catalogue.Has(path) {
		return project.NotFound(path)
	}
	policy["healthCheck"] = path
	return nil
}

// checkZones refuses zones that are not of the group's region, and chooses three where none are named.
func checkZones(g *manager) error {
	if !g.regional() {
		if g.Doc["distributionPolicy"] != nil {
			return project.Invalid("resource.distributionPolicy", "",
				"Distribution policy can be specified for regional managed instance groups only.")
		}
		return nil
	}
	region := project.FindRegion(g.Region)
	zones := zonesIn(g.Doc)
	if len(zones) == 0 {
		zones = region.Zones[max(0, len(region.Zones)-defaultZones):]
	}
	list := []any{}
	for i, z := range zones {
		if !slices.Contains(region.Zones, z) {
			return project.Invalid(fmt.Sprintf("resource.distributionPolicy.zones[%d].zone", i), z, "The zone is not in the region '%s'.", g.Region)
		}
		list = append(list, document.Object{"zone": "projects/" + g.Project + "/zones/" + z})
	}
	document.Place(g.Doc, "distributionPolicy.zones", list)
	if document.Text(g.Doc, "distributionPolicy.targetShape") == "" {
		document.Place(g.Doc, "distributionPolicy.targetShape", "EVEN")
	}
	return nil
}

// defaultZones is how many zones a regional group has that names none.
const defaultZones = 3

// zonesIn returns the names of the zones of a distribution policy.
func zonesIn(d document.Object) []string {
	var out []string
	for _, z := range document.Objects(d, "distributionPolicy.zones") {
		out = append(out, project.LastOf(document.Text(z, "zone")))
	}
	return out
}

// zones returns the names of the zones in which a group has instances.
func (g *manager) zones() []string {
	if !g.regional() {
		return []string{g.Zone}
	}
	return zonesIn(g.Doc)
}

func sorted(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return out
}
