package aws

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

// ref is the name of a template's version within pool: "lt-0abc:3".
func ref(id, version string) string { return id + ":" + version }

// parseRef takes a ref apart.
func parseRef(text string) (id, version string, err error) {
	id, version, ok := strings.Cut(text, ":")
	if !ok || id == "" || version == "" {
		return "", "", fmt.Errorf("launch template %q: want an ID and a version, as in lt-0123:4", text)
	}
	return id, version, nil
}

// versionsMost bounds how many versions are read: far more than pruning leaves.
const versionsMost = 1000

// readTemplate reads the launch template and its versions, unless they are known and nothing refers to an unknown one.
func (p *pass) readTemplate(ctx context.Context) error {
	known := &p.memory.template
	if !known.at.IsZero() && p.now.Sub(known.at) < slowPeriod && !p.refersToUnknown() {
		return nil
	}
	found, err := p.c.ec2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{p.t.template}})
	if err = refusal(err, p.now); err != nil && !absent(err) {
		return err
	}
	read := templateRead{at: p.now}
	if err == nil && len(found.LaunchTemplates) > 0 {
		template := found.LaunchTemplates[0]
		read.id = deref(template.LaunchTemplateId)
		read.ours = hasOwner(template.Tags, p.t.Owner)
	}
	if read.ours {
		if read.versions, err = p.readVersions(ctx, read.id); err != nil && !absent(err) {
			return err
		}
	}
	*known = read
	known.gone = p.unknownRefs()
	return nil
}

func hasOwner(tags []ec2types.Tag, o cloud.Owner) bool {
	return slices.ContainsFunc(tags, func(t ec2types.Tag) bool { return deref(t.Key) == tagOwner && deref(t.Value) == o.ID })
}

// readVersions reads all versions of the template.
func (p *pass) readVersions(ctx context.Context, id string) ([]version, error) {
	pages := ec2.NewDescribeLaunchTemplateVersionsPaginator(p.c.ec2, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id})
	found, err := listed(ctx, pages, func(page *ec2.DescribeLaunchTemplateVersionsOutput) []ec2types.LaunchTemplateVersion {
		return page.LaunchTemplateVersions
	}, versionsMost, p.now)
	if err != nil {
		return nil, err
	}
	versions := make([]version, 0, len(found))
	for _, v := range found {
		versions = append(versions, versionOf(v))
	}
	slices.SortFunc(versions, func(a, b version) int { return cmp.Compare(b.number, a.number) })
	return versions, nil
}

func versionOf(v ec2types.LaunchTemplateVersion) version {
	number := deref(v.VersionNumber)
	content, data := undescribe(deref(v.VersionDescription))
	out := version{number: number, Template: pool.Template{
		Ref: ref(deref(v.LaunchTemplateId), strconv.FormatInt(number, 10)), Content: content, Data: data, Fixed: deref(v.DefaultVersion),
	}}
	if v.LaunchTemplateData != nil {
		out.parts = partsOf(*v.LaunchTemplateData)
	}
	return out
}

// refersToUnknown says whether the group or an instance names a version that is not known, nor known to be gone.
func (p *pass) refersToUnknown() bool {
	for name := range p.unknownRefs() {
		if !p.memory.template.gone[name] {
			return true
		}
	}
	return false
}

// unknownRefs are the versions of our template that something refers to and that are not known.
func (p *pass) unknownRefs() map[string]bool {
	unknown := map[string]bool{}
	is := p.memory.group.is
	if is == nil || !p.ours(is) {
		return unknown
	}
	refs := []string{p.refOf(launchedFrom(is))}
	for _, i := range is.Instances {
		refs = append(refs, p.refOf(i.LaunchTemplate))
	}
	for _, name := range refs {
		if name != "" && strings.HasPrefix(name, p.memory.template.id+":") && p.templateOf(name).Content == "" {
			unknown[name] = true
		}
	}
	return unknown
}

// templateOf is the version of the given ref. One that is not known has a ref alone.
func (p *pass) templateOf(name string) pool.Template {
	for _, v := range p.memory.template.versions {
		if v.Ref == name {
			return v.Template
		}
	}
	return pool.Template{Ref: name}
}

// learned puts a version that we have just made to those that are known.
func (p *pass) learned(id string, v version, now time.Time) {
	read := &p.memory.template
	read.id, read.ours, read.at = id, true, now
	read.versions = slices.Insert(slices.DeleteFunc(read.versions, func(o version) bool { return o.number == v.number }), 0, v)
	slices.SortFunc(read.versions, func(a, b version) int { return cmp.Compare(b.number, a.number) })
}
