// Package status says what a MachinePool's status is, given what a pass has observed: counts, phase, and the conditions
// that the API names, one file each. It is pure: two passes over the same facts give byte-equal conditions, and no
// message holds a time.
package status
