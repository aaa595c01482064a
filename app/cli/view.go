package cli

// viewHelp explains these flags in the help of a command.
const viewHelp = `
A FUNCTION is a name as top prints it, NAME@MODULE, or a /regular expression/.
Flags that change stacks apply in the order in which they are typed. --where is
about labels: what files say of where stacks were taken, which info lists, and
the pid, tid, comm and cpu of threads and samples.`
