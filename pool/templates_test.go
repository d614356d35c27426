package pool

import (
	"strings"
	"testing"
)

// The changes of one version.
func isDefault(v Template) Template { v.Undeletable = true; return v }
func given(v Template) Template     { v.UserManaged = true; return v }
func pruned(v Template) Template    { v.Deleting = true; return v }

func TestPrune(t *testing.T) {
	for _, c := range []struct {
		name, why string
		keep      int
		versions  []Template
		group     string
		instances []Instance
		want      string
	}{
		{"in use", "the newest, the group's own and those that machines were launched from stay", 2,
			[]Template{version(5, "e", "d"), version(4, "d", "d"), version(3, "c", "d")}, "lt:4",
			[]Instance{machine("i-1", 1, from(version(3, "c", "d")))}, "UpdateGroup"},
		{"history", "the newest counts, and one earlier content is kept for going back; older ones go", 2,
			[]Template{version(5, "e", "d"), version(4, "d", "d"), version(3, "c", "d"), version(2, "b", "d")}, "lt:5", nil, "lt:3 lt:2"},
		{"longer history", "how many are kept is the object's to say", 4,
			[]Template{version(5, "e", "d"), version(4, "d", "d"), version(3, "c", "d"), version(2, "b", "d"), version(1, "a", "d")}, "lt:5", nil,
			"lt:1"},
		{"not set", "three are kept", 0,
			[]Template{version(5, "e", "d"), version(4, "d", "d"), version(3, "c", "d"), version(2, "b", "d")}, "lt:5", nil, "lt:2"},
		{"too few", "one to go back to is always kept", 1,
			[]Template{version(5, "e", "d"), version(4, "d", "d"), version(3, "c", "d")}, "lt:5", nil, "lt:3"},
		{"more than there are", "a higher number brings nothing back and takes nothing", 100,
			[]Template{version(5, "e", "d"), version(4, "d", "d"), version(3, "c", "d")}, "lt:5", nil, ""},
		{"used beyond the history", "a version that a machine runs from stays, and takes no place of the history", 2,
			[]Template{version(5, "e", "d"), version(4, "d", "d"), version(3, "c", "d"), version(2, "b", "d")}, "lt:5",
			[]Instance{machine("i-1", 1, from(version(2, "b", "d")))}, "lt:3"},
		{"bootstrap data alone", "versions that differ in nothing else hold old tokens and are no history", 2,
			[]Template{version(5, "e", "d3"), version(4, "e", "d2"), version(3, "e", "d1"), version(2, "b", "d")}, "lt:5", nil, "lt:4 lt:3"},
		{"a token each hour", "rotations push nothing out of the history", 3,
			[]Template{version(8, "e", "d4"), version(7, "e", "d3"), version(6, "d", "d2"), version(5, "d", "d1"), version(4, "c", "d1"),
				version(3, "c", "d0")}, "lt:8", nil, "lt:7 lt:5 lt:3"},
		{"there and back", "a content that was taken back to is the newest, and its older version holds nothing but an old token", 2,
			[]Template{version(5, "e", "d"), version(4, "d", "d"), version(3, "e", "d")}, "lt:5", nil, "lt:3"},
		{"bootstrap data of the history", "of an earlier content the newest version is kept", 2,
			[]Template{version(5, "e", "d"), version(4, "b", "d2"), version(3, "b", "d1")}, "lt:5", nil, "lt:3"},
		{"history in use", "of an earlier content the version in use is enough", 2,
			[]Template{version(5, "e", "d"), version(4, "b", "d2"), version(3, "b", "d1")}, "lt:5",
			[]Instance{machine("i-1", 1, from(version(3, "b", "d1")))}, "lt:4"},
		{"old data still running", "a version that a machine runs from stays, whatever its data", 2,
			[]Template{version(5, "e", "d2"), version(4, "e", "d1")}, "lt:5", []Instance{machine("i-1", 1, from(version(4, "e", "d1")))}, ""},
		{"a machine on its way out", "until it is gone it counts", 2,
			[]Template{version(5, "e", "d2"), version(4, "e", "d1")}, "lt:5",
			[]Instance{machine("i-1", 1, leaving, from(version(4, "e", "d1")))}, ""},
		{"a machine that runs from nothing known", "an old machine whose version is gone keeps none", 2,
			[]Template{version(5, "e", "d"), version(4, "d", "d"), version(3, "c", "d")}, "lt:5",
			[]Instance{machine("i-1", 1, from(Template{Ref: "lt:1", Content: "v1:e"}))}, "lt:3"},
		{"unknown contents", "each may be another, so that each counts", 2,
			[]Template{version(5, "e", "d"), {Ref: "lt:4"}, {Ref: "lt:3"}, {Ref: "lt:2"}}, "lt:5", nil, "lt:3 lt:2"},
		{"deleted a moment ago", "a list that is behind shows it: it stands for its content no more, and is asked for again", 2,
			[]Template{version(5, "e", "d"), pruned(version(4, "b", "d2")), version(3, "b", "d1"), version(2, "a", "d")}, "lt:5", nil, "lt:4 lt:2"},
		{"default version", "the cloud would refuse to delete it", 2,
			[]Template{version(5, "e", "d"), version(4, "d", "d"), isDefault(version(3, "c", "d")), version(2, "b", "d")}, "lt:5", nil, "lt:2"},
		{"brought", "what exists without us is not ours to delete, however many there are", 2,
			[]Template{given(version(9, "e", "d")), given(version(8, "d", "d")), given(version(7, "c", "d")), given(version(6, "b", "d"))}, "lt:9",
			nil, ""},
		{"brought beside ours", "ours are pruned as ever", 2,
			[]Template{given(version(9, "e", "d")), version(4, "d", "d"), version(3, "c", "d"), version(2, "b", "d")}, "lt:9", nil, "lt:3 lt:2"},
		{"one version", "there is nothing to spare", 2, []Template{version(5, "e", "d")}, "lt:5", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := fleet(c.instances, func(o *Observed) {
				o.Versions, o.Group.Template = c.versions, c.group
				o.Wanted = Template{Content: c.versions[0].Content, Data: c.versions[0].Data, UserManaged: c.versions[0].UserManaged}
			})
			p := Decide(wants(len(c.instances), refused(DefaultTemplate), func(d *Desired) { d.TemplateHistoryLimit = c.keep }), o, traits, now)
			got := ""
			if p.Step != nil {
				got = string(p.Step.Kind)
				if p.Step.Kind == PruneTemplates {
					got = strings.Join(p.Step.Refs, " ")
				}
			}
			if got != c.want {
				t.Errorf("%s: want %q, got %q", c.why, c.want, got)
			}
		})
	}
}

// The template's default follows what the group launches from, once that has settled.
func TestDefaultFollows(t *testing.T) {
	behind := func(o *Observed) {
		newTemplate(o)
		o.Versions[1] = isDefault(o.Versions[1])
	}
	rotated := func(o *Observed) {
		o.Versions = append([]Template{version(2, "a", "e")}, isDefault(o.Versions[0]))
		o.Wanted.Data, o.Group.Template = "e", "lt:2"
	}
	skip := func(d *Desired) { d.SkipModel = true }
	old := func(o *Observed) { o.Versions = append(o.Versions, version(0, "x", "d"), version(-1, "y", "d")) }
	checkOn(t, rollsByItself, []row{
		{"settled", "a launch that names no version gets the content that serves", wants(2), fleet(serving(2, current), behind),
			"DefaultTemplate of lt:2 (DefaultVersionOutOfDate)"},
		{"is the default", "once", wants(2), fleet(serving(2), func(o *Observed) { o.Versions[0].Undeletable = true }), "settled"},
		{"no default", "a cloud whose templates have none", wants(2), fleet(serving(2, current), newTemplate), "settled"},
		{"bootstrap data alone", "the default is what the group launches from, token and all", wants(2), fleet(serving(2), rotated),
			"DefaultTemplate of lt:2 (DefaultVersionOutOfDate)"},
		{"rollout", "the default stays with what is being replaced until nothing is", wants(2, rolls(0, 1)),
			fleet(list(machine("i-9", 9, drainingNode), machine("i-1", 1, current)), behind), "Drain i-9 (TemplateChanged), waiting Draining"},
		{"rollout paused", "it has not settled", wants(2, pausedRollout), fleet(list(machine("i-9", 9), machine("i-1", 1, current)), behind),
			"waiting RolloutPaused, settled"},
		{"the cloud rolls", "likewise", wants(2), fleet(list(machine("i-9", 9), machine("i-1", 1, current)), behind,
			rollOf(ProviderRolloutRunning, "b")), "waiting ProviderRolloutRunning"},
		{"model skipped", "old machines are as they should be then", wants(2, skip), fleet(serving(2), behind),
			"DefaultTemplate of lt:2 (DefaultVersionOutOfDate)"},
		{"busy", "the cloud is at work", wants(2), fleet(serving(2, current), behind, busyGroup), "waiting Updating"},
		{"before pruning", "what was the default may be history that goes", wants(2), fleet(serving(2, current), behind, old),
			"DefaultTemplate of lt:2 (DefaultVersionOutOfDate)"},
		{"refused", "pruning goes on", wants(2, refused(DefaultTemplate)), fleet(serving(2, current), behind, old),
			"PruneTemplates refs lt:-1 (TemplateUnused), waiting Denied"},
		{"brought", "only its owner changes the default of a template", wants(2), fleet(serving(2, current), behind, func(o *Observed) {
			o.Wanted.UserManaged, o.Versions[0], o.Versions[1] = true, given(o.Versions[0]), given(o.Versions[1])
		}), "settled"},
		{"brought beside ours", "ours has nothing that launches from it", wants(2), fleet(serving(2, current), behind, func(o *Observed) {
			o.Wanted.UserManaged, o.Versions[0] = true, given(o.Versions[0])
		}), "settled"},
		{"group launches from what is gone", "what does not exist can't be the default", wants(2),
			fleet(serving(2, current), behind, func(o *Observed) {
				o.Versions = o.Versions[1:]
				o.Wanted.Content = "v1:a"
				o.Group.Template = "lt:9"
			}), "UpdateGroup of lt:1 (TemplateOutOfDate), waiting TemplateOutOfDate"},
	})
}
