package launch

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
	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/session"
	"github.com/muster-project/muster/pool"
)

// Ref is the name of a template's version within pool: "lt-0abc:3".
func Ref(id, version string) string { return id + ":" + version }

// ParseRef takes a ref apart.
func ParseRef(text string) (id, version string, err error) {
	id, version, ok := strings.Cut(text, ":")
	if !ok || id == "" || version == "" {
		return "", "", fmt.Errorf("launch template %q: want an ID and a version, as in lt-0123:4", text)
	}
	return id, version, nil
}

// versionsMost bounds how many versions are read: far more than pruning leaves.
const versionsMost = 1000

// Read reads the launch template, in a call that pools share, and its versions when the template shows that they have changed. The refs
// are what the group and its instances launch from, as far as the group is ours.
func (p Pass) Read(ctx context.Context, refs []string) error {
	p.Memory.now = p.Now
	if p.Source.Spec.Existing != nil {
		return p.readGiven(ctx, refs)
	}
	if p.Memory.given != nil {
		// What was brought says nothing of a template of the pool's own.
		*p.Memory = Memory{now: p.Now, Wrote: p.Memory.Wrote}
	}
	m := p.Memory
	switch {
	case m.refersToUnknown(refs) || p.doubts(refs):
		return p.read(ctx, refs, 0)
	case !m.Known() || p.Now.Sub(m.at) >= versionsPeriod(p.Trouble):
		return p.read(ctx, refs, templatePeriod(p.Deleting))
	case p.Now.Sub(m.seen) < templatePeriod(p.Deleting), p.ByEvent && m.ours && p.Now.Sub(m.seen) < session.TemplateEventPeriod:
		return nil
	}
	return p.readAgain(ctx, refs)
}

// templatePeriod is the maximum age of a template that is read for all pools together.
func templatePeriod(deleting bool) time.Duration {
	if deleting {
		return session.TemplateGoingPeriod
	}
	return session.TemplatePeriod
}

// doubts reports whether what was read before counts for nothing: it was contradicted, an absence is unproven where it must be proven, or
// the pool is being deleted and the template was absent, unless Muster deleted it and has just read that it is gone.
func (p Pass) doubts(refs []string) bool {
	m := p.Memory
	gone := m.deletedBefore(m.seen) && p.Now.Sub(m.seen) <= session.SameMoment
	return m.doubted || m.unproven && p.needsProof(refs) || !m.Known() && !m.seen.IsZero() || p.Deleting && m.Known() && m.id == "" && !gone
}

// versionsPeriod is the maximum age of the versions while the template shows no change. One that others delete may be neither
// the newest nor the default: then it shows in launches that fail.
func versionsPeriod(trouble bool) time.Duration {
	if trouble {
		return session.SlowPeriod
	}
	return session.TracedPeriod
}

// needsProof reports whether an absence counts only if EC2 was asked for the very name of the template: the pool's object would be let go,
// or something launches from the template. Otherwise it would be created, which EC2 refuses if it exists.
func (p Pass) needsProof(refs []string) bool {
	return p.Deleting || len(refs) > 0 || p.Memory.id != "" || p.Now.Sub(p.Memory.made) < session.VisibleWithin
}

// readAgain reads the template, and the versions if it has changed.
func (p Pass) readAgain(ctx context.Context, refs []string) error {
	read, err := p.template(ctx, refs, templatePeriod(p.Deleting))
	m := p.Memory
	switch {
	case err != nil:
		return err
	case read.identity != m.identity:
		return p.readVersionsOf(ctx, read, refs)
	}
	m.seen, m.unproven = read.seen, read.unproven
	return nil
}

// template reads the template without its versions.
func (p Pass) template(ctx context.Context, refs []string, maxAge time.Duration) (Memory, error) {
	is, proven, at, err := p.Session.Template(ctx, p.Source.Name, maxAge)
	proven = proven || p.Memory.deletedBefore(at)
	if err == nil && is == nil && p.needsProof(refs) && (!proven || at.Sub(p.Memory.made) < session.VisibleWithin) {
		is, proven, at, err = p.Session.Template(ctx, p.Source.Name, cloud.NoSharedCache)
	}
	if err != nil {
		return Memory{}, err
	}
	read := Memory{seen: at, unproven: is == nil && !proven}
	if is != nil {
		p.Memory.deleted = time.Time{}
		p.Source.identify(&read, is)
	}
	return read, nil
}

// identify records which template was read, and whose it is.
func (s Source) identify(read *Memory, is *ec2types.LaunchTemplate) {
	read.identity = identity{
		id:     ptr.Deref(is.LaunchTemplateId, ""),
		newest: ptr.Deref(is.LatestVersionNumber, 0), standard: ptr.Deref(is.DefaultVersionNumber, 0),
	}
	tags := session.TagMap(is.Tags)
	claim := session.Spelling.Claim(s.Owner, session.In(tags))
	read.taggedFor = claim.Named()
	if read.ours = claim.Owned || s.AssumeOwned && claim.ID == ""; read.ours {
		return
	}
	read.claim, read.otherCluster = claim, session.OtherCluster(tags, s.clusters()...)
}

// read reads the template and its versions.
func (p Pass) read(ctx context.Context, refs []string, maxAge time.Duration) error {
	read, err := p.template(ctx, refs, maxAge)
	if err != nil {
		return err
	}
	return p.readVersionsOf(ctx, read, refs)
}

// readVersionsOf reads the versions of the template as it was read, and remembers both.
func (p Pass) readVersionsOf(ctx context.Context, read Memory, refs []string) error {
	read.at, read.now, read.Wrote, read.objects, read.made = p.Now, p.Now, p.Memory.Wrote, p.Memory.objects, p.Memory.made
	read.wrote, read.deleted = p.Memory.wrote, p.Memory.deleted
	if read.id == "" && p.Now.Sub(read.made) < session.VisibleWithin {
		// To believe it would let the object go, and leave the template.
		return &cloud.Error{Kind: cloud.Conflict, Code: "TemplateNotShown", Message: fmt.Sprintf(
			"launch template %s was made a moment ago and is not shown yet", p.Source.Name)}
	}
	if read.ours {
		var err error
		if read.versions, err = readVersions(ctx, p.Session, p.Now, read.id); err != nil && !session.Absent(err) {
			return err
		}
		if read.identity, read.disagree, err = agreed(ctx, p, read, refs); err != nil {
			return err
		}
	}
	*p.Memory = read
	p.Memory.gone = p.Memory.unknown(refs)
	return nil
}

// agreed returns the template as the list of its versions agrees with it, and since when the two were seen to disagree. EC2's reads are
// eventually consistent, each on its own: from a list that lacks the newest version, another one would be made, and machines of the
// newest would be replaced. Template and list are read again while they disagree; after session.VisibleWithin they are taken as they are.
func agreed(ctx context.Context, p Pass, read Memory, refs []string) (identity, disagreement, error) {
	if p.Memory.agrees(read, read.identity) {
		return read.identity, disagreement{}, nil
	}
	if read.seen.Before(p.Now) {
		again, err := p.template(ctx, refs, 0)
		if err != nil {
			return identity{}, disagreement{}, err
		}
		if read.identity = again.identity; p.Memory.agrees(read, again.identity) {
			return again.identity, disagreement{}, nil
		}
	}
	d := p.Memory.disagree
	if d.of != read.identity {
		d = disagreement{of: read.identity, since: p.Now}
	}
	if p.Now.Sub(d.since) < session.VisibleWithin {
		p.Memory.disagree = d
		return identity{}, d, &cloud.Error{Kind: cloud.Conflict, Code: "TemplateNotShown", Message: fmt.Sprintf(
			"launch template %s was changed a moment ago, and the list of its versions does not show it yet", p.Source.Name)}
	}
	return read.identity, d, nil
}

// agrees reports whether the versions that were read show what the template shows of itself, its newest and its default version, and
// whether the list has the version that was made a moment ago.
func (m *Memory) agrees(read Memory, is identity) bool {
	newest, standard := int64(0), int64(0)
	for _, v := range read.versions {
		newest = max(newest, v.number)
		if v.Undeletable {
			standard = v.number
		}
	}
	return newest >= is.newest && (standard == is.standard || newest > is.newest) &&
		(m.id != is.id || newest >= m.newest || m.now.Sub(m.wrote) >= session.VisibleWithin)
}

// refersToUnknown reports whether something names a version that is not known, nor known to be gone.
func (m *Memory) refersToUnknown(refs []string) bool {
	for ref := range m.unknown(refs) {
		if !m.gone[ref] {
			return true
		}
	}
	return false
}

// name of the template in the cloud, in either case.
func (s Source) name() string {
	if e := s.Spec.Existing; e != nil {
		return ptr.Deref(e.Name, "")
	}
	return s.Name
}

// RefOf is the ref of what a group or an instance says about its template: "lt-0abc:$Latest" is possible for a group that
// a client changed out of band.
func (p Pass) RefOf(id, name, version *string) string {
	of := ptr.Deref(id, "")
	if of == "" && ptr.Deref(name, "") == p.Source.name() {
		of = p.Memory.id
	}
	return Ref(cmp.Or(of, ptr.Deref(name, "")), cmp.Or(ptr.Deref(version, ""), "$Default"))
}

// readVersions reads all versions of the template.
func readVersions(ctx context.Context, s *session.Session, now time.Time, id string) ([]version, error) {
	found, err := listVersions(ctx, s, now, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id})
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

// listVersions reads the pages of a list of versions.
func listVersions(
	ctx context.Context, s *session.Session, now time.Time, in *ec2.DescribeLaunchTemplateVersionsInput,
) ([]ec2types.LaunchTemplateVersion, error) {
	pages := ec2.NewDescribeLaunchTemplateVersionsPaginator(s.EC2, in)
	return session.Listed(ctx, pages, func(page *ec2.DescribeLaunchTemplateVersionsOutput) []ec2types.LaunchTemplateVersion {
		return page.LaunchTemplateVersions
	}, versionsMost, now)
}

func versionOf(v ec2types.LaunchTemplateVersion) version {
	number := ptr.Deref(v.VersionNumber, 0)
	content, data, about := undescribe(ptr.Deref(v.VersionDescription, ""))
	out := version{number: number, Template: pool.Template{
		Ref: Ref(ptr.Deref(v.LaunchTemplateId, ""), strconv.FormatInt(number, 10)), Content: content, Data: data, Description: about,
		Undeletable: ptr.Deref(v.DefaultVersion, false),
	}}
	if v.LaunchTemplateData != nil && content == "" {
		out.Content, out.Data = ofProvider(*v.LaunchTemplateData)
		data = out.Data
	}
	if v.LaunchTemplateData != nil {
		out.parts, out.pointer = partsOf(*v.LaunchTemplateData), pointerOf(v.LaunchTemplateData.UserData)
		out.whole = isData(v.LaunchTemplateData.UserData, data)
	}
	return out
}
