// Before viser's own script, which takes the address of its socket from that of the page: what stands
// behind the # is ours, and comes back when the window is connected.

window.armdynAddress = location.hash;
history.replaceState(null, "", location.pathname + location.search);
