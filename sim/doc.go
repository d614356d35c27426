// Package sim is the model below all simulated clouds: machines, zones with their capacity, time, faults and a store
// that is on disk before a reply is sent. The clouds' own wire protocols are thin faces above it, one package each.
package sim
