// Package status derives the status of a MachinePool from what a pass has observed: counts, phase, and the conditions of the API, one file
// each, and the events of what changed. It is pure: two passes over the same facts give byte-equal conditions, and no message contains a
// time.
package status
