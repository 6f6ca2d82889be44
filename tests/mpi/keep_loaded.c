/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded under AddressSanitizer. An MPI closes its parts before the process ends; the leaks of a
   closed library have no name by which leaks.supp could know them, so none is closed. */
int dlclose(void* library);
int dlclose(void* library) {
  (void)library;
  return 0;
}
