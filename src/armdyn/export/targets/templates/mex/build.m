function @PREFIX@_build()
% Compile @PREFIX@_mex beside this file, with the compiler of MATLAB or Octave.
    here = fileparts(mfilename('fullpath'));
    back = cd(here);
    cleanup = onCleanup(@() cd(back));
    mex('@PREFIX@_mex.c', '@PREFIX@.c');
end
